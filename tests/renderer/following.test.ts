// @vitest-environment node
import { afterEach, expect, test } from 'vitest';
import type { Notice, NoticeName } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { Api } from '../../renderer/api/api.ts';
import { followServer, useApp } from '../../renderer/stores/app-store.ts';
import { createRunStore, followRun } from '../../renderer/views/run-store.ts';
import { runOf } from './summaries.ts';

/** Returns an API whose answers the test resolves, so that notices can arrive first. */
function manualApi() {
  const handlers = new Map<string, (notice: never) => void>();
  const requests = new Map<string, { resolve: (value: never) => void; reject: (cause: Error) => void }>();
  const api: Api = {
    call: (name) => new Promise((resolve, reject) => requests.set(name, { resolve: resolve as never, reject })),
    on(name, handler) {
      handlers.set(name, handler as never);
      return () => {};
    },
    onState(handler) {
      handler('open');
      return () => {};
    },
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  return {
    api,
    notify: <N extends NoticeName>(name: N, notice: Notice<N>) => handlers.get(name)!(notice as never),
    async answer(answers: Record<string, unknown>) {
      for (const [name, value] of Object.entries(answers)) requests.get(name)!.resolve(value as never);
      await settled();
    },
    async refuse(name: string, cause: Error) {
      requests.get(name)!.reject(cause);
      await settled();
    },
  };
}

const run = runOf();
const runId = run.id;
afterEach(() => useApp.setState(useApp.getInitialState()));

test("an older list of runs doesn't overwrite a newer notice", async () => {
  const { api, notify, answer } = manualApi();
  followServer(api);
  notify('run', { ...run, status: 'completed' });
  notify('run', { ...run, id: 'made-since' });
  notify('removed', { runId: 'deleted-since' });
  await answer({
    'runs.list': [
      { ...run, status: 'running' },
      { ...run, id: 'deleted-since' },
    ],
  });
  const statuses = useApp.getState().runs!.map(({ id, status }) => [id, status]);
  expect(Object.fromEntries(statuses)).toEqual({ [runId]: 'completed', 'made-since': run.status });
});

test('runs appear before system information arrives', async () => {
  const { api, answer } = manualApi();
  followServer(api);
  await answer({ 'runs.list': [run] });
  expect(useApp.getState()).toMatchObject({ runs: [run], system: null });
});

test('presets are reloaded after an environment changes', async () => {
  const { api, notify, answer } = manualApi();
  followServer(api);
  const before = [{ id: 'own-2048-starpo-s', title: '2048' }];
  await answer({ 'presets.list': before });
  expect(useApp.getState().presets).toEqual(before);
  notify('environments', { environments: [] });
  await answer({ 'presets.list': [] });
  expect(useApp.getState().presets).toEqual([]);
});

test('points, lines and files that arrive while the stored ones load are kept', async () => {
  const { api, notify, answer } = manualApi();
  const store = createRunStore(runId);
  followRun(api, store);
  const point = (iteration: number) => ({ iteration, metrics: { loss: iteration } });
  notify('metrics', { runId, truncateAfter: 1, points: [point(2), point(3)] });
  notify('log', { runId, line: { seq: 9, time: 0, level: 'info', message: 'new' } });
  notify('rollout', { runId, file: { iteration: 3, split: 'train', episodes: 1 } });
  await answer({
    'runs.get': { summary: run, config: {}, folder: '' },
    'runs.series': [{ name: 'loss', iterations: [1, 2, 5], values: [1, 20, 50] }],
    'runs.times': { iterations: [0, 1], times: [1000, 2000] },
    'runs.log': [{ seq: 1, time: 0, level: 'info', message: 'old' }],
    'rollouts.list': [
      { iteration: 5, split: 'train', episodes: 1 },
      { iteration: 1, split: 'train', episodes: 1 },
    ],
    'evaluations.list': [],
    'alerts.list': [],
    'echoTrap.state': null,
  });
  const { series, log, rollouts, loaded } = store.getState();
  expect(loaded).toBe(true);
  expect([...series.get('loss')!.iterations()]).toEqual([1, 2, 3]);
  expect([...series.get('loss')!.values()]).toEqual([1, 2, 3]);
  expect(log.map(({ seq }) => seq)).toEqual([1, 9]);
  expect(rollouts.map(({ iteration }) => iteration)).toEqual([3, 1]);
});

test.each([
  [new Failure('connection_lost', '', ''), null],
  [new Failure('run_unknown', '', ''), expect.objectContaining({ code: 'run_unknown' })],
])('%o while a run loads leaves it with %o', async (cause, problem) => {
  const { api, refuse } = manualApi();
  const store = createRunStore(runId);
  followRun(api, store);
  await refuse('runs.series', cause);
  expect(store.getState().problem).toEqual(problem);
});

test.each([
  [new Failure('connection_lost', '', ''), 0],
  [new Failure('internal', '', ''), 1],
])('%o while the app loads is reported %i times', async (cause, times) => {
  const { api, refuse } = manualApi();
  followServer(api);
  for (const name of ['runs.list', 'presets.list', 'system.info']) await refuse(name, cause);
  expect(useApp.getState().errors).toHaveLength(times);
});
