import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pinnedNode, run } from '../../scripts/lib/process.mjs';
import { commandLine } from '../command-line.ts';
import { expectSameAsAlone, expectUndisturbed, iterationsOf, readJournal, untilIteration } from './journal.ts';
import { type Desktop, electronDesktop, electronMissing, type Shell, standInDesktop } from './shell.ts';
import { collectComplaints, endTrainers, type Served, screenshots, serve, type Visitor, visit } from './studio.ts';

let home: string;
let desktop: Desktop | undefined;
let shell: Shell | undefined;
let visitor: Visitor | undefined;
let served: Served | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'starpo-shell-'));
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && shell && !shell.page.isClosed())
    await shell.page.screenshot({ path: join(screenshots, 'shell-failure.png'), timeout: 10_000 }).catch(() => {});
  await visitor?.close();
  await shell?.close();
  await desktop?.close();
  await served?.end();
  visitor = undefined;
  shell = undefined;
  desktop = undefined;
  served = undefined;
  endTrainers(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

/** Matches the last iteration in the success chart's text alternative. */
const lastIteration = /rollout \(T [\d.]+\): [^;]* at iteration (\d+);/;

/** Waits until the success chart shows the iteration or a later one. */
async function chartReaches({ page }: { page: Page }, iteration: number): Promise<void> {
  await page.getByRole('figure', { name: 'Success', exact: true }).filter({ hasText: lastIteration }).waitFor();
  await page.waitForFunction(
    ([source, least]) => {
      const shown = document.querySelector('main')?.textContent?.match(source)?.[1];
      return Number(shown ?? -1) >= least;
    },
    [lastIteration, iteration] as const,
  );
}

/** Animated boards would take CPU time from the run. */
const still = { reducedMotion: 'reduce' } as const;

async function openShell(): Promise<{ shell: Shell; complaints: string[] }> {
  shell = await desktop!.open(home);
  shell.page.setDefaultTimeout(200_000);
  await shell.page.emulateMedia(still);
  return { shell, complaints: collectComplaints(shell.page) };
}

async function closeWindow({ page, ended }: Shell): Promise<void> {
  await page.close();
  expect(await ended).toBe(0);
}

/** Runs a command and returns its output. */
async function runCommand(...args: string[]): Promise<string> {
  const env = { ...process.env, STARPO_HOME: home };
  const { status, output } = await run(pinnedNode(), [commandLine, ...args], { env });
  expect(status, output).toBe(0);
  return output.trim();
}

/** Runs a command and returns its JSON output. */
const starpo = async (...args: string[]) => JSON.parse(await runCommand(...args));

/** Creates a long run with about one second per iteration and no warnings. Returns its folder. */
const newRun = () =>
  runCommand(
    ...['new', 'starter-frozen-lake', '--set', 'iterations=1000', '--set', 'evaluation.levels=16'],
    ...['--set', 'rollout.groups=8', '--set', 'rollout.group_size=8', '--set', 'policy_loss.mini_batch=16'],
    ...['--set', 'filter.strategy=none', '--set', 'optimizer.learning_rate=0.00001', '--set', 'threads=1'],
  );

const openRun = (page: Page) =>
  page
    .getByRole('listitem')
    .getByRole('link', { name: /^FrozenLake/ })
    .click();

/** Returns the last iteration in a run's journal. */
const reached = (folder: string) => iterationsOf(readJournal(folder)).at(-1) ?? 0;

/** Starts a run in the window, follows it in a browser and by command, then ends both hosts during training: first the window,
 * then the browser's host by SIGKILL. The run must not be affected.
 */
async function trainWhileHostsComeAndGo(): Promise<void> {
  const folder = await newRun();
  const runId = basename(folder);
  const first = await openShell();
  await openRun(first.shell.page);
  await first.shell.page.getByRole('button', { name: 'Start', exact: true }).click();
  await chartReaches(first.shell, 1);

  served = await serve(home);
  visitor = await visit(served.address);
  await visitor.page.emulateMedia(still);
  await openRun(visitor.page);
  await chartReaches(visitor, 1);
  visitor.expectNoComplaints();
  expect(await starpo('runs', '--json')).toMatchObject([{ id: runId, status: 'running' }]);
  expect(first.complaints).toEqual([]);
  await closeWindow(first.shell);

  const withoutWindow = reached(folder) + 1;
  await untilIteration(folder, withoutWindow);
  await chartReaches(visitor, withoutWindow);

  const second = await openShell();
  const { page } = second.shell;
  await openRun(page);
  await chartReaches(second.shell, withoutWindow);
  const { port } = new URL(served.address);
  await served.end('SIGKILL');
  const withoutServer = reached(folder) + 1;
  await chartReaches(second.shell, withoutServer);
  served = await serve(home, port);
  await chartReaches(visitor, withoutServer);

  const { runs } = await starpo('history', 'rebuild', '--json');
  expect(runs).toBe(1);
  const { summary } = await starpo('show', runId, '--json');
  expect(summary).toMatchObject({ status: 'running' });
  await page.reload();
  await chartReaches(second.shell, withoutServer);
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await page.screenshot({ path: join(screenshots, '6-shell.png') });
  expectUndisturbed(folder);

  await visitor.page.getByRole('button', { name: 'Stop…' }).click();
  await visitor.page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(second.complaints).toEqual([]);
  await closeWindow(second.shell);
  await expectSameAsAlone(folder, join(home, 'alone'));
}

test("window, browser and commands share a data folder, and ending them doesn't affect the run", async () => {
  desktop = await standInDesktop();
  await trainWhileHostsComeAndGo();
});

const missing = electronMissing();
if (missing) console.log(`skipped: the shell in Electron itself. ${missing}.`);

test.skipIf(missing)('trains while hosts start and exit, in Electron', async () => {
  desktop = electronDesktop();
  await trainWhileHostsComeAndGo();
});
