import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dialog, IpcMain, Menu, MenuItemConstructorOptions, Tray } from 'electron';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { channelPair } from '../core/contract/channel.ts';
import { createClient } from '../core/contract/client.ts';
import type { RunSummary } from '../core/contract/contract.ts';
import { Failure } from '../core/contract/failure.ts';
import type { NotificationText } from '../core/contract/notification.ts';
import { announce, uploadedFile } from '../core/imports/exchange.ts';
import { serveChannel } from '../core/server/serve-channel.ts';
import { holdAt, preset, small } from '../tests/core/fixtures/played.ts';
import { raiseAlert } from '../tests/core/fixtures/raise-alert.ts';
import { World } from '../tests/core/fixtures/world.ts';
import { Activity, overall } from './activity.ts';
import { decideClosing } from './closing.ts';
import { pageOfArguments, pageOfLink } from './links.ts';
import { Preferences } from './preferences.ts';
import { saveExports } from './save-export.ts';
import { runLine, TrayMenu, trayTemplate } from './tray.ts';
import { receiveUploads } from './uploads.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'starpo-desktop-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

const run = (changes: Partial<RunSummary> = {}) =>
  ({
    ...{ id: 'a-run', name: 'FrozenLake a16c', status: 'running', createdAt: 1 },
    ...{ iteration: 45, iterations: 120, etaSeconds: 300 },
    ...changes,
  }) as RunSummary;

test.each([
  ['starpo://run/some-run/replay/000012-train-0037', '#/run/some-run/replay/000012-train-0037'],
  ['starpo://system/', '#/system'],
  ['starpo://', null],
  ['starpo://run/../../etc', null],
  ['starpo://run/x?y=1', null],
  ['starpo://run/x#sign-in=1', null],
  ['starpo://run/<script>', null],
  [`starpo://run/${'x'.repeat(3000)}`, null],
  ['https://run/x', null],
])('%s means %s', (link, page) => expect(pageOfLink(link)).toBe(page));

test('the last link in the arguments is used', () => {
  expect(pageOfArguments(['/usr/bin/app', '--x', 'starpo://start', 'starpo://run/b'])).toBe('#/run/b');
  expect(pageOfArguments(['/usr/bin/app'])).toBeNull();
});

describe('the tray', () => {
  test('a run as one line', () => {
    expect(runLine(run())).toBe('FrozenLake a16c: 45 of 120, about 5 min left');
    expect(runLine(run({ etaSeconds: null }))).toBe('FrozenLake a16c: 45 of 120');
    expect(runLine(run({ status: 'paused' }))).toBe('FrozenLake a16c: 45 of 120, paused');
  });

  test('lists active runs, opens them by click, and says without a window that training continues', () => {
    const desk = { show: vi.fn(), quit: vi.fn() };
    const active = [run(), ...Array.from({ length: 9 }, () => run({ id: 'other' }))];
    const template = trayTemplate(active, false, desk);
    const click = ({ click }: MenuItemConstructorOptions = {}) => click?.({} as never, undefined, {} as never);
    expect(template.map(({ label }) => label)).toContain('and 2 more');
    click(template.find(({ label }) => label === runLine(run())));
    expect(desk.show).toHaveBeenCalledWith('#/run/a-run');
    click(template.at(-1));
    expect(template.at(-1)?.label).toBe('Quit (training continues)');
    expect(desk.quit).toHaveBeenCalled();
    expect(trayTemplate(active, true, desk).at(-1)?.label).toBe('Quit');
    expect(trayTemplate([], false, desk).map(({ label }) => label)).toEqual(
      expect.arrayContaining(['No active runs', 'Quit']),
    );
  });

  test('is rebuilt only if it changes', () => {
    const tray = { on: vi.fn(), setToolTip: vi.fn(), setContextMenu: vi.fn() };
    const menus = { buildFromTemplate: (template: unknown) => template };
    const menu = new TrayMenu(tray as unknown as Tray, menus as unknown as typeof Menu, {
      show: vi.fn(),
      quit: vi.fn(),
    });
    menu.update([run()], true);
    menu.update([run()], true);
    expect(tray.setContextMenu).toHaveBeenCalledTimes(2);
    menu.update([run({ iteration: 46 })], true);
    menu.update([run({ iteration: 46 })], false);
    expect(tray.setContextMenu).toHaveBeenCalledTimes(4);
  });

  test('progress is the mean of all active runs', () => {
    expect(overall([])).toBeNull();
    const half = run({ iteration: 60 });
    expect(overall([half, run({ iteration: 120 })])).toEqual({ share: 0.75, paused: false });
    expect(overall([{ ...half, status: 'paused' }])).toEqual({ share: 0.5, paused: true });
  });
});

describe('closing during training', () => {
  const parts = (response: number, { remember = false, hasTray = true, active = [run()] } = {}) => ({
    active: () => active,
    stopAll: vi.fn(async () => {}),
    ask: vi.fn(async () => ({ response, checkboxChecked: remember })),
    preferences: new Preferences(join(folder, 'preferences.json')),
    hasTray,
  });

  test.each([
    [0, true, false, 'background', 0],
    [0, true, true, 'quit', 0],
    [0, false, false, 'quit', 0],
    [1, true, false, 'quit', 1],
    [2, true, false, 'stay', 0],
  ])('answer %d (tray: %s, quitting: %s) means %s', async (answer, hasTray, quitting, means, stops) => {
    const asked = parts(answer, { hasTray });
    expect(await decideClosing(asked, quitting)).toBe(means);
    expect(asked.ask).toHaveBeenCalledTimes(1);
    expect(asked.stopAll).toHaveBeenCalledTimes(stops);
    expect(asked.preferences.closing).toBeNull();
  });

  test('a remembered choice is used without a dialog; after a canceled dialog, the dialog opens again', async () => {
    await decideClosing(parts(2, { remember: true }), false);
    await decideClosing(parts(1, { remember: true }), false);
    const later = parts(0);
    expect(later.preferences.closing).toBe('stop');
    expect(await decideClosing(later, false)).toBe('quit');
    expect(later.ask).not.toHaveBeenCalled();
    expect(later.stopAll).toHaveBeenCalled();
    later.preferences.closing = null;
    expect(parts(0).preferences.closing).toBeNull();
  });

  test('the dialog opens again if a remembered choice fails', async () => {
    const asked = parts(1, { remember: true });
    await decideClosing(asked, true);
    asked.stopAll.mockRejectedValueOnce(new Failure('trainer_not_responding', 'It hangs.', 'End it.'));
    await expect(decideClosing(asked, true)).rejects.toMatchObject({ code: 'trainer_not_responding' });
    expect(asked.preferences.closing).toBeNull();
  });

  test('no dialog opens without active runs; an invalid file means no choice', async () => {
    writeFileSync(join(folder, 'preferences.json'), '{"closing": "explode"');
    const asked = parts(2, { active: [] });
    expect(asked.preferences.closing).toBeNull();
    expect(await decideClosing(asked, false)).toBe('quit');
    expect(asked.ask).not.toHaveBeenCalled();
  });
});

test('active runs are followed and notified across servers, and stopped after a checkpoint', async () => {
  const world = new World();
  const core = await world.core();
  const open = async () => {
    const { left, right } = channelPair();
    serveChannel(core, right);
    return left;
  };
  const published: string[][] = [];
  let changed = () => {};
  const news: NotificationText[] = [];
  let onNews = () => {};
  const activity = new Activity(
    open,
    (active) => {
      published.push(active.map(({ id }) => id));
      changed();
    },
    (text) => {
      news.push(text);
      onNews();
    },
  );
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      changed = () => condition() && resolve();
      changed();
    });
  activity.follow();
  await until(() => published.length > 0);
  holdAt(2);
  const id = await core.runs.create({ preset, set: small });
  await core.runs.start(id);
  await until(() => activity.active().some((each) => each.id === id && each.iteration === 2));
  const alarmed = new Promise<void>((resolve) => {
    onNews = resolve;
  });
  const alarm = {
    kind: 'x',
    severity: 'warning',
    iteration: 2,
    message: 'It fades.',
    level: 'collapsing',
  } as const;
  await raiseAlert(core, id, alarm);
  await alarmed;
  await activity.stopAll();
  expect(activity.stopping).toBe(false);
  expect(news).toMatchObject([
    {
      runId: id,
      title: 'Echo Trap: the run is collapsing',
      body: expect.stringContaining('iteration 2. It fades.'),
    },
  ]);
  expect(activity.active()).toEqual([]);
  expect(core.runs.get(id)).toMatchObject({ status: 'stopped', iteration: 2 });
  expect(published.at(-1)).toEqual([]);
  activity.close();
  await world.close();
});

test("a run that can't be stopped causes an error without waiting", async () => {
  const world = new World();
  const core = await world.core();
  holdAt(2);
  const id = await core.runs.create({ preset, set: small });
  await core.runs.start(id);
  const open = async () => {
    const { left, right } = channelPair();
    serveChannel(core, right);
    return left;
  };
  let changed = () => {};
  const activity = new Activity(
    open,
    () => changed(),
    () => {},
  );
  await expect(activity.stopAll()).rejects.toMatchObject({ code: 'not_connected' });
  const active = new Promise<void>((resolve) => {
    changed = () => activity.active().length > 0 && resolve();
  });
  activity.follow();
  await active;
  const refused = new Failure('trainer_not_responding', 'It hangs.', 'End its process.');
  vi.spyOn(core.runs, 'command').mockRejectedValueOnce(refused);
  await expect(activity.stopAll()).rejects.toMatchObject({ code: 'trainer_not_responding' });
  await activity.stopAll();
  expect(core.runs.get(id).status).toBe('stopped');
  activity.close();
  await world.close();
});

test("queued runs don't replace stopped ones until the queue resumes", async () => {
  holdAt(2);
  const world = new World();
  const studio = await world.studio({ worksQueue: true, inBackground: true });
  const client = createClient(await studio.open());
  const make = async () => (await client.call('runs.create', { preset, set: small, start: false })).runId;
  const [trained, waits] = [await make(), await make()];
  await client.call('runs.start', { runId: trained });
  await client.call('queue.add', { runId: waits });
  let changed = () => {};
  const activity = new Activity(
    () => studio.open(),
    () => changed(),
    () => {},
  );
  const active = new Promise<void>((resolve) => {
    changed = () => activity.active().length > 0 && resolve();
  });
  activity.follow();
  await active;
  await studio.rest();
  await activity.stopAll();
  expect((await client.call('queue.list', {})).working).toBe(false);
  expect(await client.call('runs.get', { runId: waits })).toMatchObject({ summary: { status: 'queued' } });
  const begun = new Promise<void>((resolve) => {
    changed = () => activity.active().some((run) => run.id === waits) && resolve();
  });
  await studio.work();
  await begun;
  await activity.stopAll();
  activity.close();
  await world.close();
});

describe('saving an export', () => {
  const exportId = 'a'.repeat(32);
  const own = { url: 'app://studio/', parent: null };
  let dialog: { showSaveDialog: ReturnType<typeof vi.fn>; showOpenDialog: ReturnType<typeof vi.fn> };
  let ask: (request: unknown, senderFrame?: object | null) => Promise<unknown>;
  beforeEach(() => {
    dialog = { showSaveDialog: vi.fn(), showOpenDialog: vi.fn() };
    const handle = vi.fn();
    saveExports({ handle } as unknown as IpcMain, dialog as unknown as Dialog, folder);
    ask = (request, senderFrame = own) => handle.mock.calls[0]![1]({ senderFrame }, request);
    mkdirSync(join(folder, 'exports', exportId), { recursive: true });
    writeFileSync(join(folder, 'exports', exportId, 'metrics.csv'), 'iteration\n');
  });

  test('one file is saved by name, several into a folder, and none is replaced without confirmation', async () => {
    const target = join(folder, 'mine.csv');
    dialog.showSaveDialog.mockResolvedValueOnce({ canceled: false, filePath: target });
    expect(await ask(exportId)).toEqual({ place: target, problem: null });
    expect(readFileSync(target, 'utf8')).toBe('iteration\n');
    dialog.showSaveDialog.mockResolvedValueOnce({ canceled: true, filePath: '' });
    expect(await ask(exportId)).toEqual({ place: null, problem: null });

    writeFileSync(join(folder, 'exports', exportId, 'README.md'), '#');
    mkdirSync(join(folder, 'model'));
    dialog.showOpenDialog.mockResolvedValue({ canceled: false, filePaths: [join(folder, 'model')] });
    expect(await ask(exportId)).toEqual({ place: join(folder, 'model'), problem: null });
    expect(readFileSync(join(folder, 'model/README.md'), 'utf8')).toBe('#');
    expect(await ask(exportId)).toMatchObject({ place: null, problem: expect.stringContaining('already exists') });
  });

  test.each([
    ['a foreign page', exportId, { url: 'https://example.org/', parent: null }],
    ['a frame within the page', exportId, { ...own, parent: own }],
    ['a path', '../../etc', own],
    ['an object', { exportId }, own],
  ])('%s is rejected', async (_, input, frame) => {
    expect(await ask(input, frame)).toMatchObject({ place: null, problem: expect.any(String) });
    expect(dialog.showSaveDialog).not.toHaveBeenCalled();
  });
});

test("an upload is received part by part, only from the app's own page", async () => {
  const own = { url: 'app://studio/', parent: null };
  const handle = vi.fn();
  receiveUploads({ handle } as unknown as IpcMain, folder);
  const send = (request: unknown[], senderFrame: object | null = own) =>
    handle.mock.calls[0]![1]({ senderFrame }, ...request);
  const file = 'b'.repeat(32);
  await announce(folder, file, 5);
  const part = new Uint8Array(Buffer.from('a r'));
  for (const [request, frame] of [
    [['../../etc/passwd', 0, part], own],
    [[file, -1, part], own],
    [[file, 0, 'a r'], own],
    [[file, 0, part], { url: 'https://example.org/', parent: null }],
    [[file, 0, part], { ...own, parent: own }],
  ] as const)
    expect(await send([...request], frame)).toEqual({ problem: 'Request rejected.' });
  expect(await send(['c'.repeat(32), 0, part])).toEqual({ problem: 'The upload no longer exists.' });
  expect(await send([file, 3, part])).toEqual({ problem: 'The size of the file has changed.' });

  expect(await send([file, 0, part])).toEqual({ problem: null });
  expect(existsSync(uploadedFile(folder, file))).toBe(false);
  expect(await send([file, 3, new Uint8Array(Buffer.from('un'))])).toEqual({ problem: null });
  expect(readFileSync(uploadedFile(folder, file), 'utf8')).toBe('a run');
  expect(await send([file, 0, part])).toMatchObject({ problem: expect.any(String) });
});
