import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { channelPair } from '../../core/contract/channel.ts';
import { connect } from '../../renderer/api/connection.ts';
import { ApiContext } from '../../renderer/api/context.ts';
import { App } from '../../renderer/app.tsx';
import { useApp } from '../../renderer/stores/app-store.ts';
import { useReplay } from '../../renderer/stores/replay-store.ts';
import { useRun } from '../../renderer/stores/run-store.ts';
import { evaluationOf, FakeCore } from './fake-core.ts';
import { gpu, memoryPlan, processor, seriesOf } from './fake-data.ts';

// jsdom has no canvas: the plots hold their data and draw nothing.
vi.mock('uplot', () => ({
  default: class {
    setData() {}
    setSize() {}
    destroy() {}
  },
}));

let host: HTMLElement;
let root: Root;

/** The whole app on a made-up core, at an address. */
async function open(hash: string, core = new FakeCore()): Promise<FakeCore> {
  history.replaceState(null, '', hash);
  const { left, right } = channelPair();
  core.serve(right);
  const api = connect(() => Promise.resolve(left));
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
  await act(async () =>
    root.render(
      <ApiContext value={api}>
        <App />
      </ApiContext>,
    ),
  );
  return core;
}

/** Lets React and core work until the page shows what is asked for. */
async function shown<T>(find: () => T | null | undefined): Promise<T> {
  for (let turn = 0; turn < 200; turn++) {
    const found = find();
    if (found) return found;
    await act(() => new Promise((resolve) => setTimeout(resolve)));
  }
  throw new Error(`never shown; the page says: ${host.textContent}`);
}

const withText = (selector: string, text: string | RegExp) => () =>
  [...host.querySelectorAll<HTMLElement>(selector)].find((element) => element.textContent?.match(text));

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  window.matchMedia = () => ({ matches: true, addEventListener: () => {} }) as unknown as MediaQueryList;
  Element.prototype.scrollTo = () => {};
});

afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  useApp.setState(useApp.getInitialState());
  useRun.setState(useRun.getInitialState());
  useReplay.setState(useReplay.getInitialState());
});

test('one click on a preset makes a run and opens its page', async () => {
  const core = await open('#/start');
  const before = core.runs.length;
  const start = await shown(() =>
    host.querySelector<HTMLElement>('button[aria-label^="Start FrozenLake, StarPO-S"]'),
  );
  await act(async () => start.click());
  await shown(() => location.hash.startsWith('#/run/made-'));
  expect(core.runs).toHaveLength(before + 1);
  expect(core.runs.at(-1)?.preset).toBe('starter-frozen-lake-starpo-s');
});

test('each task has one card, and what it says and starts follows the chosen algorithm', async () => {
  const core = await open('#/start');
  const card = await shown(() =>
    host.querySelector<HTMLElement>('article[aria-labelledby="task-frozen-lake-slippery"]'),
  );
  expect([...host.querySelectorAll('h2[id^="group-"]')].map(({ textContent }) => textContent)).toEqual([
    'FrozenLake',
    'Sokoban',
    'Bandit',
    'Several environments',
  ]);
  expect(host.querySelectorAll('.preset-groups article')).toHaveLength(5);
  const radios = [...card.querySelectorAll<HTMLInputElement>('input[type="radio"]')];
  const chosen = () => radios.filter(({ checked }) => checked).map(({ labels }) => labels![0]!.textContent);
  expect(radios).toHaveLength(4);
  expect(chosen()).toEqual(['StarPO-S (PPO)']);
  expect(card.querySelector('code')?.textContent).toBe('starter-frozen-lake-slippery');
  const said = () => [...card.querySelectorAll('[data-chosen]')].map(({ textContent }) => textContent).join();
  expect(said()).toMatch(/critic says.*Aims at 25 % to 40 %/);

  await act(async () => radios.at(-1)!.click());
  expect(chosen()).toEqual(['StarPO (GRPO)']);
  expect(said()).toMatch(/^Baseline.*prone to collapse.*Aims at a level to compare with/);
  expect(card.querySelector('code')?.textContent).toBe('starter-frozen-lake-slippery-grpo');
  const start = card.querySelector<HTMLElement>(
    'button[aria-label="Start FrozenLake, slippery, StarPO (GRPO)"]',
  );
  await act(async () => start!.click());
  await shown(() => location.hash.startsWith('#/run/made-'));
  expect(core.runs.at(-1)?.preset).toBe('starter-frozen-lake-slippery-grpo');
});

test('a trainer that cannot be started says why and blocks the presets', async () => {
  const core = new FakeCore();
  core.trainerProblem = 'Build it first.';
  await open('#/start', core);
  await shown(withText('[role="alert"]', /trainer_unavailable.*Build it first/));
  expect(host.querySelector<HTMLButtonElement>('button[aria-label^="Start "]')?.disabled).toBe(true);
});

test('the presets of a published model need a GPU and its folder, and say what is missing', async () => {
  const core = await open('#/start');
  const section = await shown(() => host.querySelector('.model-section'));
  await shown(withText('.model-section [role="status"]', /can’t start here: the trainer finds no GPU/));
  await shown(withText('.model-section', /isn't on this machine.*model_missing.*hf download/s));
  const start = () =>
    section.querySelector<HTMLButtonElement>(
      'button[aria-label="Start Sokoban, Qwen2.5 0.5B, StarPO-S (PPO)"]',
    )!;
  expect(start().disabled).toBe(true);
  expect(section.textContent).toMatch(/Needs about \d+ GB of GPU memory/);

  await act(async () => withText('.model-section button', /^Look at the configuration$/)()!.click());
  await shown(withText('.model-section pre', /"device": "cuda"/));
  await act(async () => withText('.model-section button', /^3B$/)()!.click());
  await shown(withText('.model-section', /Qwen2\.5-3B-Instruct isn't on this machine/));
  expect(section.querySelector('code')?.textContent).toBeDefined();
  expect(core.runs.some(({ preset }) => preset.startsWith('qwen'))).toBe(false);
});

test('with a GPU and a model folder they start from what the person named', async () => {
  const core = new FakeCore();
  core.devices = [processor, { ...gpu, memory_bytes: 24e9 }];
  core.modelFolder = '/found';
  await open('#/start', core);
  const start = await shown(() => {
    const button = host.querySelector<HTMLButtonElement>(
      '.model-section button[aria-label="Start Bandit, Qwen2.5 0.5B, StarPO-S (PPO)"]',
    );
    return button?.disabled === false ? button : null;
  });
  const field = host.querySelector<HTMLInputElement>('.model-section .text-field')!;
  expect(field.placeholder).toBe('/found');
  expect(host.querySelector('.preset-need')?.textContent).toContain('and the one here has 24.0 GB');
  await act(async () => {
    field.value = '/elsewhere';
    field.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
  });
  await shown(() => !start.disabled || null);
  await act(async () => start.click());
  await shown(() => location.hash.startsWith('#/run/made-'));
  expect(core.runs.at(-1)).toMatchObject({
    preset: 'qwen2.5-0.5b-bandit-starpo-s',
    marks: { tags: ['/elsewhere'] },
  });
  localStorage.clear();
});

test('a plan of memory is shown part by part, and not where there is none', async () => {
  const core = await open('#/run/frozen-lake-7');
  await shown(withText('summary', /^Configuration/));
  expect(withText('summary', /^Memory/)()).toBeUndefined();
  await act(async () => core.notify('memoryPlan', { runId: 'frozen-lake-7', plan: memoryPlan }));
  await shown(withText('summary', /Memory29\.4 GB of 85\.0 GB on cuda:0/));
  const rows = [...host.querySelectorAll('.memory tbody tr')].map(({ textContent }) => textContent);
  expect(rows).toHaveLength(memoryPlan.parts.length);
  expect(rows[2]).toBe('Keys and values of all episodeswhile playing5.70 GB');
  const bars = [...host.querySelectorAll('.memory-bar')].map((bar) => bar.getAttribute('aria-label'));
  expect(bars).toEqual(['while playing 24.6 GB, 29 %', 'while updating 29.4 GB, 35 %']);
});

test('an unknown run shows the code and the hint', async () => {
  await open('#/run/nothing');
  await shown(withText('[role="alert"]', /run_not_found.*Pick a run from the list/));
});

test('a failed run shows its failure and can be resumed', async () => {
  const core = await open('#/run/frozen-lake-1');
  core.notify('run', {
    ...core.runs.at(-1)!,
    status: 'failed',
    failure: { code: 'disk_full', message: 'No room.', hint: 'Make room.' },
  });
  await shown(withText('[role="alert"]', /disk_full.*Make room/));
  await act(async () => withText('button', /^Resume$/)()!.click());
  await shown(() => core.commands.includes('start'));
});

test('commands of a running run reach core', async () => {
  const core = await open('#/run/frozen-lake-7');
  for (const [name, command] of [
    ['Pause', 'pause'],
    ['Checkpoint', 'checkpoint'],
    ['Stop', 'stop'],
  ] as const) {
    const button = await shown(() => {
      const found = withText('button', name)() as HTMLButtonElement | undefined;
      return found && !found.disabled ? found : null;
    });
    await act(async () => button.click());
    await shown(() => core.commands.at(-1) === command);
  }
});

test('a new iteration moves progress, values and the text beside the chart', async () => {
  const core = await open('#/run/frozen-lake-7');
  const newest = (iteration: number) =>
    seriesOf(core.runs[0]!, iteration)
      .find(({ name }) => name === 'rollout/reward_mean')!
      .values.at(-1)!;
  const chart = () => host.querySelector('[aria-labelledby="chart-reward-mean"]')!;
  await shown(() => chart());
  expect(chart().querySelector('strong')?.textContent).toBe(newest(87).toFixed(3));
  await act(async () => core.advance('frozen-lake-7'));
  await shown(withText('.run-facts', /Iteration88 of 200/));
  expect(chart().querySelector('strong')?.textContent).toBe(newest(88).toFixed(3));
  expect(chart().textContent).toContain('at iteration 88');
});

test('the replay follows the keys, board and conversation alike', async () => {
  await open('#/run/slippery-6/replay/000041-train-0025');
  await shown(() => host.querySelector('.stage-board svg'));
  const press = (key: string) =>
    act(async () => void dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true })));
  await press('End');
  const { replay, player } = useReplay.getState();
  expect(player.index).toBe(replay!.frames.length - 1);
  const last = replay!.frames.at(-1)!;
  expect(host.querySelector('.turn[aria-current="step"] h3')?.textContent).toBe(`Turn ${last.turn + 1}`);
  expect(host.querySelector('.stage-board svg')?.getAttribute('aria-label')).toContain(
    `Turn ${last.turn + 1}, action`,
  );
  await press('Home');
  expect(host.querySelector('.caption')?.textContent).toContain('Start');
  await press('ArrowRight');
  expect(useReplay.getState().player.index).toBe(1);
});

test('another iteration shows the same place in it', async () => {
  await open('#/run/frozen-lake-7/replay/000040-frozen-lake-0007');
  await shown(() => host.querySelector('.stage-board svg'));
  await act(async () => host.querySelector<HTMLElement>('button[aria-label="Earlier iteration"]')!.click());
  await shown(() => location.hash === '#/run/frozen-lake-7/replay/000020-frozen-lake-0007');
  await shown(() => useReplay.getState().replay?.summary.iteration === 20);
});

test('the list filters', async () => {
  await open('#/run/bandit-5/replay');
  await shown(() => host.querySelector('.episode-table tbody tr'));
  const rows = () => host.querySelectorAll('.episode-table tbody tr').length;
  const all = rows();
  await act(async () => withText('button', /^Failed$/)()!.click());
  expect(rows()).toBeGreaterThan(0);
  expect(rows()).toBeLessThan(all);
  expect(host.querySelectorAll('.result[data-success="true"]')).toHaveLength(0);
});

test('an evaluation is asked for, followed to its end, and replayed', async () => {
  const core = await open('#/run/frozen-lake-7');
  const form = await shown(() => host.querySelector<HTMLFormElement>('form[aria-label="New evaluation"]'));
  const submit = () => form.querySelector<HTMLButtonElement>('button[type="submit"]')!;
  await act(async () => submit().click());
  await shown(withText('.evaluation-list tbody tr', /frozen-lake.*80.*0 of 64/));
  expect(submit().disabled).toBe(true);

  const done = evaluationOf({
    checkpoint: 80,
    changes: ['size=6'],
    name: '000080-frozen-lake',
    state: 'done',
    done: 64,
    metrics: { success_rate: 0.5, success_rate_low: 0.381, success_rate_high: 0.619, reward_mean: 0.48 },
  });
  core.evaluations.splice(0, 1, done);
  await act(async () => core.notify('evaluation', { runId: 'frozen-lake-7', evaluation: done }));
  await shown(withText('.evaluation-list tbody tr', /50.0 %.*38 to 62 %.*0.480/));
  expect(submit().disabled).toBe(false);
  await act(async () => host.querySelector<HTMLElement>(`a[aria-label="Replay ${done.name}"]`)!.click());
  await shown(() => location.hash === `#/run/frozen-lake-7/evaluation/${done.name}/000080-frozen-lake-0000`);
  await shown(() => useReplay.getState().evaluation === done.name);
});

test('a level is stepped through the checkpoints that played it', async () => {
  await open('#/run/frozen-lake-7/replay/000040-frozen-lake-0007');
  const places = () => [...host.querySelectorAll<HTMLButtonElement>('.level-place')];
  await shown(() => places().length === 5 && places().every(({ disabled }) => !disabled));
  expect(places().map(({ textContent }) => textContent!.replace(/\D/g, ''))).toEqual([
    '0',
    '20',
    '40',
    '60',
    '80',
  ]);
  expect(places().findIndex((place) => place.ariaCurrent === 'true')).toBe(2);
  await act(async () => places()[4]!.click());
  await shown(() => location.hash === '#/run/frozen-lake-7/replay/000080-frozen-lake-0007');
});

test('a preset is queued while another run is trained, and the queue is put in order', async () => {
  const core = await open('#/start');
  const add = await shown(() =>
    host.querySelector<HTMLElement>(
      'button[aria-label="Add Two-armed bandit, StarPO-S (PPO), to the queue"]',
    ),
  );
  const order = () => [...host.querySelectorAll('.queue a')].map((link) => link.textContent);
  expect(order()).toEqual(['Bandit 8', 'FrozenLake slippery 9']);
  const made = `starter-bandit-starpo-s ${core.runs.length}`;
  await act(async () => add.click());
  await shown(() => order().length === 3);
  expect(location.hash).toBe('#/start');
  const press = async (label: string) => {
    const button = host.querySelector<HTMLElement>(`button[aria-label="${label}"]`)!;
    await act(async () => button.click());
  };
  await press(`Move ${made} up`);
  await shown(() => order().join() === `Bandit 8,${made},FrozenLake slippery 9`);
  const problem = { code: 'trainer_missing', message: 'There is no trainer.', hint: 'Build it.' };
  await act(async () => core.notify('queue', { problem }));
  await shown(withText('.note', /trainer_missing.*Build it/));
  await act(async () => core.notify('queue', { problem: null }));
  await shown(() => !withText('.note', 'trainer_missing')());
  await press('Take Bandit 8 out of the queue');
  await shown(() => order().join() === `${made},FrozenLake slippery 9`);
});

test('star, tags and note are kept, and an archived run is hidden until it is asked for', async () => {
  const core = await open('#/run/frozen-lake-7');
  const run = core.runs[0]!;
  const button = (label: string) => () => host.querySelector<HTMLElement>(`button[aria-label="${label}"]`);
  const click = async (find: () => HTMLElement | null | undefined) => {
    const found = await shown(find);
    await act(async () => found.click());
  };
  const write = (field: HTMLInputElement | HTMLTextAreaElement, text: string) =>
    act(async () => {
      const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')!;
      set!.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
  await click(button('Mark with a star'));
  await shown(button('Take the star away'));
  const field = await shown(() => host.querySelector<HTMLInputElement>('input[aria-label="Add a tag"]'));
  await write(field, ' long run ');
  await act(async () => field.form!.requestSubmit());
  await shown(button('Remove the tag long run'));
  await click(withText('button', 'Add a note'));
  await write(host.querySelector('textarea')!, 'what it is for');
  await click(button('Remove the tag long run'));
  await shown(() => !button('Remove the tag long run')());
  await write(field, 'again');
  await act(async () => field.form!.requestSubmit());
  await shown(button('Remove the tag again'));
  await click(withText('button', 'Save'));
  await shown(withText('.mark-note', 'what it is for'));
  await click(withText('button', /^Archive$/));
  await shown(withText('.nav-archived', 'Show 2 archived'));
  expect(withText('.run-link', run.name)()).toBeUndefined();
  await click(withText('.nav-archived', 'Show'));
  await shown(withText('.run-link', run.name));
  expect(run.marks).toEqual({ tags: ['again'], note: 'what it is for', starred: true, archived: true });
});

test('a trainer that hangs, a disk that fills and an alert are told of on the page of the run', async () => {
  const core = new FakeCore();
  const [code, message, hint] = ['storage_budget_near', 'Nearly full.', 'Delete some.'];
  core.storage = { ...core.storage, budget: 110e6, warnings: [{ code, message, hint }] };
  const alert = {
    kind: 'entropy',
    severity: 'warning',
    iteration: 80,
    message: 'The entropy falls.',
  } as const;
  const times = { raisedAt: 1, changedAt: 1, snoozedUntil: null };
  core.alerts = [{ id: 'a', ...alert, ...times, state: 'raised' }];
  await open('#/run/frozen-lake-7', core);
  await shown(withText('.note', /storage_budget_near.*Delete some/));
  await shown(withText('.run-facts', 'Disk104.4 MB of 110.0 MB'));
  const note = await shown(withText('.note', 'The entropy falls'));
  await act(async () =>
    [...note.querySelectorAll('button')].find((b) => b.textContent === 'Acknowledge')!.click(),
  );
  await shown(() => !withText('.note', 'The entropy falls')());
  const stalled = {
    code: 'trainer_stalled',
    message: 'Silent.',
    hint: 'Look.',
    phase: 'update',
    since: 1,
  } as const;
  core.notify('run', { ...core.runs[0]!, stalled });
  await shown(withText('.note', /trainer_stalled.*Look/));
  await shown(withText('.status-badge', 'Hangs'));
  core.notify('run', { ...core.runs[0]!, stalled: null });
  await shown(() => !withText('.note', 'trainer_stalled')());
});

test('episodes that are deleted leave the list', async () => {
  const core = await open('#/run/frozen-lake-7');
  const listed = () => useRun.getState().rollouts.some(({ iteration }) => iteration === 3);
  await shown(listed);
  core.notify('rolloutRemoved', { runId: 'frozen-lake-7', iteration: 3, split: 'train' });
  await shown(() => !listed());
});
