import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { databaseFile } from '../../core/history/files.ts';
import { number } from '../../renderer/components/format.ts';
import { EvaluationList } from '../../renderer/pages/run/evaluations/evaluation-list.tsx';
import { useDialogs } from '../../renderer/stores/dialogs-store.ts';
import * as journal from '../core/fixtures/journal.ts';
import { raiseAlert } from '../core/fixtures/raise-alert.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';
import { evaluationOf } from './summaries.ts';

const template = new World();
let trained: string;
beforeAll(async () => {
  const core = await template.core();
  trained = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await core.runs.start(trained);
  await untilRun(core, trained, ({ status }) => status === 'completed');
  await core.dispose();
  return () => template.close();
});

let page: Page;
beforeEach(() => void vi.stubEnv('FAKE_TRAINER_HOLD', '0'));
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
});

/** Trains a run up to an iteration, where the trainer waits for a command. */
async function held(iteration: number, set: object = {}): Promise<string> {
  vi.stubEnv('FAKE_TRAINER_HOLD', String(iteration));
  const runId = await page.core.runs.create({ preset: 'starter-frozen-lake', set: { ...small, ...set } });
  await page.core.runs.start(runId);
  await untilRun(page.core, runId, (run) => run.iteration === iteration);
  return runId;
}

/** Elements outside the page, such as dialogs and menus. */
const before = (selector: string, text: string | RegExp) => () =>
  [...document.querySelectorAll<HTMLElement>(selector)].find((each) => each.textContent?.match(text));
const inDialog = (text: RegExp) => before('[role="dialog"] button', text);
const inMenu = (text: string) => before('[role="menuitem"]', text);

test("an unknown run shows the error's code and hint", async () => {
  page = await Page.start();
  page.open('#/run/nothing');
  await page.shown(page.withText('[role="alert"]', /run_unknown/));
});

test("the window title names the open page and shows a run's progress", async () => {
  page = await Page.start(template);
  const titled = (title: string) => page.shown(() => document.title === `${title} · StarPO Studio`);
  page.open('#/history');
  await titled('History');
  location.hash = '#/models';
  await titled('Models');
  location.hash = '#/play';
  await titled('Play');
  location.hash = `#/play/${trained}`;
  await titled(`Play · ${page.core.runs.get(trained).name}`);
  location.hash = '#/nothing';
  await titled('Page not found');
  location.hash = `#/run/${trained}`;
  await titled(page.core.runs.get(trained).name);
  vi.stubEnv('FAKE_TRAINER_HOLD', '2');
  const runId = await page.core.runs.create({ preset: 'starter-bandit', set: small });
  await page.core.runs.start(runId);
  location.hash = `#/run/${runId}`;
  await titled(`2/4 · ${page.core.runs.get(runId).name}`);
});

test('the page shows a run that is indexed later', async () => {
  page = await Page.start();
  const runId = 'bandit-that-comes-20261122-1200-abcd';
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('[role="alert"]', /run_unknown/));
  await page.core.runs.create({ preset: 'starter-bandit', set: small }, runId);
  await page.shown(page.withText('h1', /^Bandit/));
});

test('a failed run shows its failure and can be resumed', async () => {
  page = await Page.start();
  vi.stubEnv('FAKE_TRAINER_FAIL', '2');
  const { core } = page;
  const runId = await core.runs.create({ preset: 'starter-bandit', set: small });
  await core.runs.start(runId);
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('[role="alert"]', /Make room.*disk_full/));
  await page.click(page.withText('button', /^Resume$/));
  await page.shown(page.withText('.status-badge', 'Completed'));
  expect(core.runs.get(runId).iteration).toBe(4);
});

test('a trainer that does not start shows the reason', async () => {
  page = await Page.start();
  vi.stubEnv('FAKE_TRAINER_REFUSE', '1');
  const runId = await page.core.runs.create({ preset: 'starter-bandit', set: small });
  page.open(`#/run/${runId}`);
  await page.click(page.withText('button', /^Start$/));
  await page.shown(page.withText('.errors', /Copy it again.*model_corrupt/));
});

test('a live run can be paused, checkpointed and stopped', async () => {
  page = await Page.start();
  const runId = await held(1);
  page.open(`#/run/${runId}`);
  await page.click(page.withText('button', /^Pause$/));
  await page.shown(page.withText('.status-badge', 'Paused'));
  await page.shown(page.withText('.run-facts', /Paused (in|after) iteration/));
  await page.click(page.withText('button', /^Checkpoint$/));
  await page.shown(page.withText('.errors', /The checkpoint of iteration 1 is being written/));
  await page.click(page.withText('button', /^Checkpoint$/));
  await page.shown(page.withText('.errors', /The checkpoint of iteration 1 already exists/));
  await page.click(page.withText('button', /^Stop…$/));
  await page.click(inDialog(/^Cancel$/));
  await page.click(page.withText('button', /^Stop…$/));
  await page.click(inDialog(/^Stop$/));
  await page.shown(page.withText('.status-badge', 'Stopped'));
  const { checkpoints } = await page.core.evaluations.choices(runId);
  expect(checkpoints).toContain(1);
});

test("a new iteration updates progress, values and the chart's text", async () => {
  page = await Page.start();
  const runId = await held(2, { iterations: 3 });
  page.open(`#/run/${runId}`);
  const chart = () => page.find('[data-chart="reward-mean"]');
  // The measured value follows the smoothed one.
  const value = () => chart()?.querySelector('[title="Value before smoothing"]')?.textContent?.replace('raw ', '');
  const meanOf = (iteration: number) => 0.3 + (0.4 * iteration) / 3 + 0.05 * Math.sin(iteration * 1.7) - 0.02;
  await page.shown(() => value() === number(meanOf(2)));
  await page.shown(page.withText('.run-facts', /Iteration2 of 3/));
  await page.core.runs.command(runId, 'checkpoint');
  await page.shown(page.withText('.run-facts', /Iteration3 of 3/));
  await page.shown(() => value() === number(meanOf(3)));
  expect(chart()!.textContent).toContain('at iteration 3');
});

test('a live run shows its result so far, and updates it in place when the run ends', async () => {
  page = await Page.start();
  const runId = await held(2, { iterations: 3 });
  page.open(`#/run/${runId}`);
  const result = () => page.find('section[data-result]');
  await page.shown(() => /^Result so far/.test(result()?.textContent ?? ''));
  const panel = result();
  await page.core.runs.command(runId, 'checkpoint');
  await page.shown(() => /^Result\d.*after 3 iterations.*Copy result/.test(result()?.textContent ?? ''));
  // The same element: nothing was inserted above the charts.
  expect(result()).toBe(panel);
  expect(panel!.textContent).not.toContain('What to try next');
  await page.shown(page.withText('section', /^What to try next/));
});

test('while a run is loading, no panel states that something is missing', async () => {
  page = await Page.start(template);
  const { reader } = page.core.history;
  const { call } = reader;
  const held = Promise.withResolvers<void>();
  vi.spyOn(reader, 'call').mockImplementation((async (...asked: Parameters<typeof call>) => {
    await held.promise;
    return call.apply(reader, asked);
  }) as typeof call);
  const trap = vi.spyOn(page.core.supervisor, 'trap').mockImplementation(() => new Promise(() => {}));
  const absent = /No |Not |empty|no data|fewer/;
  for (const [tab, loading] of [
    ['', /Loading the result….*Echo Trap: loading….*Loading events…/],
    ['/log', /Loading the log…/],
    ['/checkpoints', /Loading the evaluations…/],
  ] as const) {
    page.open(`#/run/${trained}${tab}`);
    const shown = await page.shown(() => page.find('.run-page')?.textContent?.match(loading)?.input);
    expect(shown).not.toMatch(absent);
  }
  trap.mockRestore();
  page.open(`#/run/${trained}`);
  const copy = () => page.withText('button', 'Copy result')() as HTMLButtonElement | undefined;
  const button = await page.shown(copy);
  expect(button.disabled).toBe(true);
  held.resolve();
  await page.shown(() => /^Result\d/.test(page.find('section[data-result]')?.textContent ?? ''));
  // The same element: the result moved nothing.
  expect(copy()).toBe(button);
  expect(button.disabled).toBe(false);
});

test('a run without checkpoints shows that in every place that needs one', async () => {
  page = await Page.start(template);
  const { core } = page;
  const { name } = core.runs.get(trained);
  for (const checkpoint of readdirSync(join(core.runs.folder(trained), 'checkpoints')))
    rmSync(join(core.runs.folder(trained), 'checkpoints', checkpoint), { recursive: true });
  page.open(`#/run/${trained}/checkpoints`);
  await page.shown(page.withText('section', /^CheckpointsNo checkpoints\..*files were deleted/));
  await page.click(page.withText('button', /^Evaluate…$/));
  await page.shown(before('[role="dialog"] p', 'This run has no checkpoint to evaluate.'));
  await page.click(inDialog(/^Cancel$/));
  location.hash = `#/run/${trained}`;
  await page.click(page.withText('button', /^Fork…$/));
  await page.shown(before('[role="dialog"] p', 'This run has no checkpoint.'));
  await page.click(inDialog(/^Cancel$/));
  await page.click(page.withText('button', /^Train more…$/));
  await page.shown(before('[role="dialog"] p', 'This run has no checkpoint.'));
  expect(inDialog(/^Start$/)()).toHaveProperty('disabled', true);

  page.open(`#/new/run/${trained}/4`);
  const error = await page.shown(page.withText('[role="alert"]', /has no checkpoint at iteration 4.*start a new run/));
  // Errors use the display name.
  expect(error.textContent).toContain(name);
  expect(error.textContent).not.toContain(trained);
});

test('an evaluation starts, completes and can be replayed', async () => {
  vi.stubEnv('FAKE_TRAINER_EVALUATION_HOLD', '1');
  page = await Page.start(template);
  page.open(`#/run/${trained}`);
  await page.click(page.withText('button', /^Evaluate…$/));
  const form = await page.shown(() => document.querySelector<HTMLFormElement>('form[aria-label="New evaluation"]'));
  const choices = [...form.querySelectorAll('select:not([name]) option')].map(({ textContent }) => textContent);
  expect(choices).toEqual(['FrozenLake', 'Sokoban (not trained on)', 'Bandit (not trained on)']);
  const sampling = [...form.querySelectorAll<HTMLLabelElement>('fieldset[aria-label="Sampling"] label')];
  expect(sampling.map(({ textContent, control }) => [textContent, (control as HTMLInputElement).value])).toEqual([
    ['Temperature', '0.5'],
    ['Top-p', '1'],
    ['Top-k', '0'],
    ['Min-p', '0'],
  ]);
  await page.click(inDialog(/^Evaluate$/));
  await page.shown(page.withText('.errors', 'Evaluation started.'));
  await page.shown(() => location.hash === `#/run/${trained}/checkpoints`);
  await page.shown(page.withText('p', /evaluated on panel [0-9a-f]{8}$/));
  await page.shown(page.withText('.evaluation-list tbody tr', /FrozenLake.*4.*0 of 16/));
  const another = () => page.find<HTMLButtonElement>('.section-head button');
  await page.shown(() => another()?.disabled);
  // The evaluation is queued before its trainer creates the folder.
  const evaluations = join(page.core.runs.folder(trained), 'evaluations');
  mkdirSync(evaluations, { recursive: true });
  writeFileSync(join(evaluations, 'go'), '');
  await page.shown(page.withText('.evaluation-list tbody tr', /50.0 %.*38 to 62 %.*0.480/));
  await page.shown(() => another()?.disabled === false);
  const [evaluation] = await page.core.evaluations.list(trained);
  await page.click(`a[aria-label="Replay ${evaluation!.name}"]`);
  // It matches the run's own evaluation of that checkpoint, which is listed instead.
  await page.shown(page.withText('.file-choice option:checked', /^Evaluation: FrozenLake$/));
  await page.shown(page.withText('.stage-head h2', 'Level 1'));
  await page.shown(() => page.find('.stage-board svg'));
});

test('a failed evaluation shows a hint, and its code under Details', async () => {
  page = await Page.start();
  const failure = { code: 'disk_full', message: 'The disk is full.', hint: 'Make room.' };
  page.render(<EvaluationList runId="any" evaluations={[evaluationOf({ state: 'failed', failure })]} />);
  const failureNote = await page.shown(() => page.find('.evaluation-failure'));
  expect(failureNote.textContent).toMatch(/^The disk is full\. Make room\./);
  const details = failureNote.querySelector('details')!;
  expect(details.open).toBe(false);
  expect(details.textContent).toBe('DetailsCode disk_full');
});

test('star, tags and note are saved, and archived runs are hidden by default', async () => {
  page = await Page.start(template);
  const run = page.core.runs.get(trained);
  page.open(`#/run/${trained}`);
  const button = (label: string) => () => page.find(`button[aria-label="${label}"]`);
  await page.click(button('Star'));
  await page.shown(button('Unstar'));
  const field = await page.shown(() => page.find<HTMLInputElement>('input[aria-label="Add tag"]'));
  const tag = (text: string) => {
    page.write(field, text);
    field.form!.requestSubmit();
  };
  tag(' long run ');
  await page.shown(button('Remove tag long run'));
  await page.click(page.withText('button', 'Add note'));
  const note = await page.shown(() => page.find<HTMLTextAreaElement>('textarea'));
  page.write(note, 'what it is for');
  await page.click(button('Remove tag long run'));
  await page.shown(() => !button('Remove tag long run')());
  tag('again');
  await page.shown(button('Remove tag again'));
  await page.click(page.withText('button', 'Save'));
  await page.shown(page.withText('.mark-note', 'what it is for'));
  await page.click(button(`More for ${run.name}`));
  await page.click(inMenu('Archive'));
  await page.shown(page.withText('.errors', `${run.name} archived.`));
  await page.shown(page.withText('.nav-archived', 'Show 1 archived'));
  expect(page.withText('.run-link', run.name)()).toBeUndefined();
  await page.click(page.withText('.nav-archived', 'Show'));
  await page.shown(page.withText('.run-link', run.name));
  expect(page.core.runs.get(trained).marks).toEqual({
    tags: ['again'],
    note: 'what it is for',
    starred: true,
    archived: true,
    name: '',
  });
});

test('the run page shows low disk space and alerts', async () => {
  page = await Page.start();
  const runId = await page.core.runs.create({
    preset: 'starter-frozen-lake',
    set: { ...small, 'storage.budget_gigabytes': 1e-6 },
  });
  await page.core.runs.start(runId);
  await untilRun(page.core, runId, ({ status }) => status === 'completed');
  const alert = {
    kind: 'entropy',
    severity: 'warning',
    iteration: 3,
    message: 'The entropy falls.',
  } as const;
  const alertId = raiseAlert(page.core, runId, alert);
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('.note', /“Free disk space” in its menu.*“Checkpoint every”.*storage_budget_passed/));
  const note = await page.shown(page.withText('.note', 'The entropy falls'));
  await page.click(() => [...note.querySelectorAll('button')].find((b) => b.textContent === 'Acknowledge'));
  await page.shown(() => !page.withText('.note', 'The entropy falls')());
  expect(page.core.annotations.alerts(runId)).toMatchObject([{ id: alertId, state: 'acknowledged' }]);
  location.hash = `#/run/${runId}/configuration`;
  await page.shown(page.withText('dl > div', /^Disk.*of 1 kB/));
});

test('a fork has the name that the dialog shows, and states what it keeps', async () => {
  page = await Page.start(template);
  const { name } = page.core.runs.get(trained);
  page.open(`#/run/${trained}/checkpoints`);
  const dialog = () => document.querySelector('[role="dialog"]')?.textContent;
  await page.click(() => page.find('[aria-label="Fork from checkpoint 4…"]'));
  await page.shown(() => dialog()?.match(/Trainsnone: the fork would have no iterations left\./));
  await page.click(inDialog(/^Cancel$/));
  await page.click(() => page.find('[aria-label="Fork from checkpoint 2…"]'));
  await page.shown(() => dialog()?.match(/Keepsweights of iteration 2.*Trainsiterations 3 to 4.*Time.*\d s/));
  await page.click(inDialog(/^Create fork$/));
  await page.shown(page.withText('h1', `${name}, fork at 2`));
  expect(page.core.runs.list().map((run) => run.parent)).toContainEqual({ run: trained, iteration: 2 });
});

test('tabs have addresses and work with the keyboard', async () => {
  page = await Page.start(template);
  page.open(`#/run/${trained}/log`);
  const selected = () => page.find('[role="tab"][aria-selected="true"]')?.textContent;
  await page.shown(() => selected() === 'Log');
  const tab = page.find('[role="tab"][aria-selected="true"]')!;
  tab.focus();
  tab.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
  await page.shown(() => document.activeElement?.textContent === 'Checkpoints & evaluations');
  (document.activeElement as HTMLElement).click();
  await page.shown(
    () => location.hash === `#/run/${trained}/checkpoints` && selected() === 'Checkpoints & evaluations',
  );
});

test('a refused clipboard shows the text, selected', async () => {
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: () => Promise.reject(new Error('Write permission denied.')) },
  });
  page = await Page.start(template);
  page.open(`#/run/${trained}`);
  await page.click(page.withText('button', 'Copy result'));
  const field = await page.shown(() => document.querySelector<HTMLTextAreaElement>('[role="dialog"] textarea'));
  expect(field.value).toMatch(/^FrozenLake, StarPO-S \(GRPO\): 40\.0 → 70\.0 %/);
  expect(page.find('.errors')?.textContent ?? '').toBe('');
  vi.unstubAllGlobals();
});

test('freeing disk space shows progress and stops when canceled', async () => {
  const world = new World();
  template.copyRunsTo(world);
  const folder = (runId: string) => join(world.home, 'runs', runId);
  cpSync(folder(trained), folder('another'), { recursive: true });
  const between = ['000001', '000003'];
  for (const runId of [trained, 'another'])
    for (const name of between) {
      mkdirSync(join(folder(runId), 'checkpoints', name));
      writeFileSync(join(folder(runId), 'checkpoints', name, 'model.safetensors'), 'weights');
    }
  page = await Page.startIn(world);
  const { annotations, runs, tasks } = page.core;
  // Holds the second run before its first file is deleted.
  const add = annotations.add.bind(annotations);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const cleaned: string[] = [];
  vi.spyOn(annotations, 'add').mockImplementation(async (runId, ...rest) => {
    cleaned.push(runId);
    if (cleaned.length === 2) await held;
    return add(runId, ...rest);
  });
  const cancel = vi.spyOn(tasks, 'cancel');
  page.open('#/history');
  useDialogs.getState().openDialog({ kind: 'clean', runs: runs.list() });
  for (const choice of ['Training episodes', 'Intermediate checkpoints'])
    (await page.shown(before('[role="dialog"] label', choice))).click();
  await page.click(inDialog(/^Free \d/));
  await page.shown(before('[role="dialog"] [role="status"]', /^Deleting, [1-9]\d* %/));
  await page.shown(() => cleaned.length === 2);
  await page.click(inDialog(/^Cancel$/));
  await page.shown(() => cancel.mock.calls.length === 1);
  release();
  await page.shown(page.withText('[role="status"]', /freed\./));
  const [first, second] = cleaned.map((runId) => readdirSync(join(folder(runId), 'checkpoints')));
  expect(first).not.toEqual(expect.arrayContaining(between));
  expect(second).toEqual(expect.arrayContaining(between));
});

test('a history of a newer version is shown read-only, and buttons that would write are disabled and show the reason', async () => {
  const world = new World();
  template.copyRunsTo(world);
  await (await world.core()).dispose();
  const database = new Database(databaseFile(world.home));
  database.pragma('user_version = 999');
  database.close();
  page = await Page.startIn(world);
  page.open(`#/run/${trained}`);
  await page.shown(page.withText('.banner', /Read-only data folder.*newer version of StarPO Studio.*Update/));
  await page.shown(page.withText('.status-badge', 'Completed'));
  const locked = () => page.all('[aria-disabled="true"]').map((each) => each.textContent || each.ariaLabel);
  await page.shown(() => locked().includes('Train more…'));
  expect(locked()).toEqual(['Star', 'Add note', 'Train more…', 'Fork…', 'Evaluate…']);
  const fork = page.withText('button', /^Fork/)()!;
  expect(fork.title).toContain('newer version');
  fork.click();
  expect(useDialogs.getState().dialog).toBeNull();
  expect(page.find<HTMLInputElement>('[aria-label="Add tag"]')!.disabled).toBe(true);
  await page.click('[aria-label^="More for"]');
  await page.shown(before('[role="menuitem"]', 'Export as one file'));
  expect(before('[role="menuitem"]', /Rename|Delete|Fork|Tag|Star$/)()).toBeUndefined();

  location.hash = '#/start';
  await page.shown(() => locked().includes('Start'));
  expect(page.all('button').filter((each) => each.textContent === 'Start' && !each.ariaDisabled)).toEqual([]);
  location.hash = '#/history';
  await page.shown(() => locked().includes('Import runs…'));
});

test('alerts of a newer version keep their words and are marked on the charts', async () => {
  page = await Page.start(template);
  const alert = { v: 1, time: 1e14, type: 'alert', state: 'raised', iteration: 3, severity: 'grave' };
  const lines = [
    { ...alert, id: 'a', alert: 'a', kind: 'fever', message: 'It is hot.' },
    { ...alert, id: 'b', alert: 'b', kind: 'echo_trap', message: 'It dreams.', level: 'feverish' },
  ];
  appendFileSync(
    join(page.core.runs.folder(trained), 'annotations.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  page.open(`#/run/${trained}`);
  await page.shown(page.withText('.note[data-kind="warning"]', 'It is hot'));
  await page.shown(page.withText('[data-chart] > p.visually-hidden', /Marks: .*feverish at iteration 3/));
  await page.click(() => page.all('[data-echo-trap] button[aria-expanded="false"]')[0]);
  await page.shown(page.withText('ul[aria-label="Alerts"] li', /feverish at iteration 3/));
});

test('a stalled trainer shows a warning until it continues', async () => {
  let slept = 0;
  page = await Page.start(undefined, undefined, { clock: () => performance.now() + slept });
  const runId = await held(1);
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('.status-badge', 'Running'));
  slept = 3_600_000;
  await page.shown(page.withText('.note', /trainer_stalled/));
  await page.shown(page.withText('.status-badge', 'Not responding'));
  await page.core.runs.command(runId, 'checkpoint');
  await page.shown(() => !page.withText('.note', 'trainer_stalled')());
});

test('deleted episodes leave the list, and no memory plan is shown if the trainer made none', async () => {
  page = await Page.start();
  const folder = page.world.run('written', [journal.started(0), journal.rollout(1, 1), journal.rollout(2, 2)]);
  await page.core.supervisor.add('written');
  page.open('#/run/written/replay');
  const iterations = () => page.all('.file-choice select:last-of-type option').map((o) => o.textContent);
  await page.shown(() => iterations().includes('1'));
  appendFileSync(join(folder, 'events.jsonl'), `${journal.rolloutRemoved(3, 1)}\n`);
  await page.shown(() => !iterations().includes('1') && iterations().includes('2'));
  location.hash = '#/run/written/configuration';
  await page.shown(page.withText('summary', /^Configuration/));
  expect(page.withText('summary', /^Memory/)()).toBeUndefined();
  appendFileSync(join(folder, 'events.jsonl'), `${journal.stopped(4, 2)}\n`);
});

test('the first-step check lists values, usual ranges and the setting to change, and is open if something is wrong', async () => {
  page = await Page.start();
  const folder = page.world.run('checked', [journal.started(0)]);
  await page.core.supervisor.add('checked');
  page.open('#/run/checked');
  await page.shown(page.withText('h2', /^Recent events/));
  expect(page.withText('summary', /^First-step check/)()).toBeUndefined();
  appendFileSync(join(folder, 'events.jsonl'), `${journal.firstStepCheck(1, 1)}\n`);
  await page.core.supervisor.refresh('checked');
  await page.shown(page.withText('details[open] summary', /First-step check.*iteration 1: 1 wrong/));
  const row = (text: string) => page.withText('tr[data-verdict]', text)()?.textContent;
  expect(row('Gradient norm')).toBe(' okGradient norm0.36up to 1000The loss has a gradient. ');
  expect(row('Truncated responses')).toContain('wrongTruncated responses100 %up to 20 %The actions are lost.');
  const link = page.withText('tr[data-verdict="wrong"] a', 'Change “Max response length”')() as HTMLAnchorElement;
  expect(link.getAttribute('href')).toBe('#/new/run/checked');
  appendFileSync(join(folder, 'events.jsonl'), `${journal.stopped(2, 1)}\n`);
});

test('the result of a run that stopped early shows the rule', async () => {
  page = await Page.start();
  const message = 'the filter kept no group in 5 consecutive iterations (early_stop.empty_filters)';
  page.world.run('stopped', [
    journal.started(0),
    journal.iteration(1, 1),
    journal.stopped(2, 1, 'early_stop', message),
  ]);
  await page.core.supervisor.add('stopped');
  page.open('#/run/stopped');
  await page.shown(page.withText('[data-result]', /Stopped early\. The filter kept no group in 5 consecutive/));
  await page.shown(page.withText('dd', /^Stopped early\. Resume to continue/));
});
