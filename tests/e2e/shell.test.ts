import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pinnedNode, run } from '../../scripts/lib/process.mjs';
import { type Desktop, electronDesktop, electronMissing, type Shell, standInDesktop } from './shell.ts';
import { endTrainers, hearComplaints, screenshots } from './studio.ts';

let home: string;
let desktop: Desktop | undefined;
let shell: Shell | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'starpo-shell-'));
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && shell && !shell.page.isClosed())
    await shell.page.screenshot({ path: join(screenshots, 'shell-failure.png') });
  await shell?.close();
  await desktop?.close();
  shell = undefined;
  desktop = undefined;
  endTrainers(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

interface Event {
  seq: number;
  type: string;
  iteration: number;
  pid: number;
  level: string;
  message: string;
}

/** The whole lines of a run's journal. */
function readJournal(folder: string): Event[] {
  const path = join(folder, 'events.jsonl');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const iterationsOf = (events: Event[]) =>
  events.filter((event) => event.type === 'iteration').map((event) => event.iteration);

/** Settles once a run's journal holds an iteration; what the app knows of it doesn't matter. */
function untilIteration(folder: string, iteration: number): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, () => look());
    const look = () => {
      if (!iterationsOf(readJournal(folder)).includes(iteration)) return;
      watcher.close();
      resolve();
    };
    look();
  });
}

const succeeds = /rollout: .* at iteration (\d+)/;

/** Waits until the chart of success tells of an iteration at or after one. */
async function chartReaches({ page }: Shell, iteration: number): Promise<void> {
  await page.getByRole('figure', { name: 'Success', exact: true }).filter({ hasText: succeeds }).waitFor();
  await page.waitForFunction(
    ([source, least]) => {
      const said = document.querySelector('main')?.textContent?.match(source)?.[1];
      return Number(said ?? -1) >= least;
    },
    [succeeds, iteration] as const,
  );
}

async function openShell(): Promise<{ shell: Shell; complaints: string[] }> {
  shell = await desktop!.open(home);
  shell.page.setDefaultTimeout(200_000);
  return { shell, complaints: hearComplaints(shell.page) };
}

async function closeWindow({ page, ended }: Shell): Promise<void> {
  await page.close();
  expect(await ended).toBe(0);
}

/** What a command of the command line prints as JSON. */
async function starpo(...args: string[]) {
  const env = { ...process.env, STARPO_HOME: home };
  const { status, output } = await run(pinnedNode(), ['core/host/cli.ts', ...args], { env });
  expect(status, output).toBe(0);
  return JSON.parse(output);
}

/** Starts a run from the window, closes it while the run trains, opens it again, and looks whether training took any notice. */
async function trainThroughAClosedWindow(): Promise<void> {
  const first = await openShell();
  await first.shell.page.getByRole('button', { name: 'Start FrozenLake, StarPO-S (GRPO)' }).click();
  await chartReaches(first.shell, 1);
  const [folder] = globSync(join(home, 'runs/*'));
  expect(first.complaints).toEqual([]);
  await closeWindow(first.shell);

  const before = iterationsOf(readJournal(folder!)).at(-1)!;
  await untilIteration(folder!, before + 1);

  const second = await openShell();
  const { page } = second.shell;
  await page
    .getByRole('listitem')
    .getByRole('link', { name: /^FrozenLake/ })
    .click();
  await chartReaches(second.shell, before + 2);

  // The command line works on the same data folder at the same time.
  const { runs } = await starpo('history', 'rebuild', '--json');
  expect(runs).toBe(1);
  const { summary } = await starpo('show', basename(folder!), '--json');
  expect(summary).toMatchObject({ status: 'running' });

  await page.reload();
  await chartReaches(second.shell, before + 3);
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.screenshot({ path: join(screenshots, '6-shell.png') });

  const trained = readJournal(folder!);
  const starts = trained.filter((event) => event.type === 'started');
  expect(starts).toHaveLength(1);
  expect(JSON.parse(readFileSync(join(folder!, 'trainer.lock'), 'utf8')).pid).toBe(starts[0]!.pid);
  expect(trained.map((event) => event.seq)).toEqual([...trained.keys()]);
  const iterations = iterationsOf(trained);
  expect(iterations).toEqual(iterations.map((_, index) => index + 1));
  expect(trained.filter((event) => event.type === 'log' && event.level !== 'info')).toEqual([]);
  expect(trained.filter((event) => ['paused', 'stopped', 'failed'].includes(event.type))).toEqual([]);

  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(second.complaints).toEqual([]);
  await closeWindow(second.shell);
}

test('a run outlives the window that started it, and the next window finds it', async () => {
  desktop = await standInDesktop();
  await trainThroughAClosedWindow();
});

const missing = electronMissing();
if (missing) console.log(`skipped: the shell in Electron itself. ${missing}.`);

test.skipIf(missing)('the same in Electron itself', async () => {
  desktop = electronDesktop();
  await trainThroughAClosedWindow();
});
