import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendCommand } from '../../core/run-directory/control.ts';
import { root } from '../../scripts/lib/process.mjs';
import { type Desktop, type Shell, standInDesktop } from './shell.ts';
import { restartStatus } from './stand-in/exit-status.ts';
import { collectComplaints, endTrainers } from './studio.ts';

let home: string;
let desktop: Desktop;
let shell: Shell | undefined;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'starpo-desktop-'));
  desktop = await standInDesktop();
});
afterEach(async () => {
  await shell?.close();
  await desktop.close();
  endTrainers(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

/** A trainer that waits after its second iteration until a command. */
const waiting = {
  STARPO_TRAINER: join(root, 'tests/core/fixtures/fake-trainer'),
  FAKE_TRAINER_HOLD: '2',
};

test('the desktop app shows active runs, keeps the machine awake, opens links, saves files and asks before closing', async () => {
  shell = await desktop.open(home, waiting);
  const { page, output, act, ended } = shell;
  page.setDefaultTimeout(120_000);
  const complaints = collectComplaints(page);
  await output(/desk: {"tray":\["Open StarPO Studio","No active runs","Quit"\]}/);
  await page
    .getByRole('button', { name: /^Start FrozenLake/ })
    .first()
    .click();
  await output(/desk: {"awake":true}/);
  await output(/desk: {"tray":\["Open StarPO Studio","FrozenLake [0-9a-f]{4}: 2 of \d+[^"]*","Quit"\]}/);
  await output(/desk: {"progress":0\.0[12]}/);
  const [folder] = globSync(join(home, 'runs/*'));
  const runId = basename(folder!);

  act({ second: ['starpo-studio', `starpo://run/${runId}/export`] });
  await page.getByRole('heading', { name: 'Export', exact: true }).waitFor();
  const csv = join(home, 'mine.csv');
  act({ file: csv });
  await page.getByRole('button', { name: 'Save… CSV' }).click();
  await page.getByText(`Saved in ${csv}`).waitFor();
  expect(readFileSync(csv, 'utf8')).toMatch(/^iteration,time,/);

  act({ message: 2, close: true });
  await output(/"message":"A run is active.","buttons":\["Keep training in the background"/);
  act({ second: ['starpo-studio', 'starpo://system'] });
  await page.getByRole('heading', { name: 'System', exact: true }).waitFor();
  expect(complaints).toEqual([]);

  act({ message: 1, remember: true, close: true });
  expect(await ended).toBe(0);
  expect(JSON.parse(readFileSync(join(home, 'desktop-userData/preferences.json'), 'utf8'))).toEqual({
    closing: 'stop',
    notifications: 'on',
    dataFolder: null,
  });
  expect(readFileSync(join(folder!, 'events.jsonl'), 'utf8')).toMatch(/"type":"stopped"/);
});

test('with no window open, the desktop app notifies when training ends, and clicking the notification opens the run', async () => {
  shell = await desktop.open(home, waiting);
  const { page, output, act } = shell;
  page.setDefaultTimeout(120_000);
  await page
    .getByRole('button', { name: /^Start FrozenLake/ })
    .first()
    .click();
  await output(/desk: {"tray":\["Open StarPO Studio","FrozenLake [0-9a-f]{4}: 2 of /);
  const [folder] = globSync(join(home, 'runs/*'));
  const closed = page.waitForEvent('close');
  act({ message: 0, close: true });
  await closed;
  await output(/desk: {"tray":\[.*"Quit \(training continues\)"\]}/);

  appendCommand(folder!, 'checkpoint');
  const [, body] = await output(/desk: {"notification":{"title":"Training completed","body":"([^"]*)"}}/);
  expect(body).toMatch(/^FrozenLake [0-9a-f]{4}, iteration (\d+) of \1\. Success /);
  const opened = page.context().waitForEvent('page');
  act({ click: true });
  await (await opened).waitForURL(new RegExp(`#/run/${basename(folder!)}$`));
});

test('the restart into another data folder asks about active runs and can be canceled', async () => {
  const environment = { ...waiting, STARPO_HOME: '', XDG_DATA_HOME: home };
  const disk = join(home, 'disk');
  mkdirSync(disk);
  writeFileSync(join(disk, 'holiday.jpg'), '');
  shell = await desktop.open(home, environment);
  const { page, output, act, ended } = shell;
  page.setDefaultTimeout(120_000);
  await page
    .getByRole('button', { name: /^Start FrozenLake/ })
    .first()
    .click();
  await output(/desk: {"tray":\["Open StarPO Studio","FrozenLake [0-9a-f]{4}: 2 of /);
  act({ second: ['starpo-studio', 'starpo://settings'], folder: disk, message: 2 });
  await page.getByRole('button', { name: 'Choose another folder…' }).click();
  const section = page.getByRole('region', { name: 'Data folder' });
  await section.getByRole('status').getByText(join(disk, 'starpo-studio')).waitFor();
  await page.getByRole('button', { name: 'Restart now' }).click();
  await output(/"message":"A run is active.","buttons":\["Keep training","Save a checkpoint and stop","Cancel"\]/);

  // The restart was canceled, so closing the window doesn't restart.
  act({ message: 1, close: true });
  expect(await ended).toBe(0);

  const later = await desktop.open(home, environment);
  shell = later;
  later.page.setDefaultTimeout(120_000);
  await later.page.getByText(`Data in ${join(disk, 'starpo-studio')}`).waitFor();
  later.act({ second: ['starpo-studio', 'starpo://settings'] });
  await later.page.getByRole('button', { name: 'Use the default folder' }).click();
  await later.page.getByRole('status').getByText(join(home, 'starpo-studio'), { exact: true }).waitFor();
  await later.page.getByRole('button', { name: 'Restart now' }).click();
  expect(await later.ended).toBe(restartStatus);

  // The app asks about a missing disk before it opens a window.
  writeFileSync(join(home, 'desktop-userData/preferences.json'), JSON.stringify({ dataFolder: join(home, 'missing') }));
  shell = await desktop.open(home, { ...environment, STAND_IN_ANSWERS: '{"message":1}' });
  await shell.output(/"buttons":\["Try again","Use the default folder this time","Quit"\]/);
  await shell.page.getByText(`Data in ${join(home, 'starpo-studio')}`).waitFor();
  expect(existsSync(join(home, 'missing'))).toBe(false);
});
