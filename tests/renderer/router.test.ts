import { afterEach, expect, test } from 'vitest';
import { navigate } from '../../renderer/base/router.ts';
import { formatRoute, parseRoute, type Route } from '../../renderer/base/routes.ts';

afterEach(() => history.replaceState(null, '', '#/start'));

const routes: [string, Route][] = [
  ['#/start', { page: 'start' }],
  ['#/studies', { page: 'studies' }],
  ['#/new', { page: 'new', from: { preset: null } }],
  ['#/new/import', { page: 'new', from: { preset: null }, importing: true }],
  ['#/new/starter-bandit', { page: 'new', from: { preset: 'starter-bandit' } }],
  [
    '#/new/starter-bandit?rollout.groups=8&environments.0.prompt.first=a+%26+b',
    {
      page: 'new',
      from: { preset: 'starter-bandit' },
      set: { 'rollout.groups': '8', 'environments.0.prompt.first': 'a & b' },
    },
  ],
  ['#/new/run/frozen-lake-1', { page: 'new', from: { run: 'frozen-lake-1', checkpoint: null } }],
  ['#/new/run/frozen-lake-1/40', { page: 'new', from: { run: 'frozen-lake-1', checkpoint: 40 } }],
  ['#/studies/new/starter-bandit', { page: 'new', from: { preset: 'starter-bandit' }, study: true }],
  ['#/study/clip-width-4f2a', { page: 'study', studyId: 'clip-width-4f2a' }],
  ['#/compare', { page: 'compare', runIds: [] }],
  ['#/compare/frozen-lake-1,bandit-2', { page: 'compare', runIds: ['frozen-lake-1', 'bandit-2'] }],
  [
    '#/compare/a,b?group=optimizer.learning_rate&color=seed',
    { page: 'compare', runIds: ['a', 'b'], group: 'optimizer.learning_rate', color: 'seed' },
  ],
  ['#/run/a/group/12/3', { page: 'group', runId: 'a', iteration: 12, group: 3 }],
  [
    '#/run/a/replay/000012-train-0000?reward=-0.1..0.25',
    { page: 'replay', runId: 'a', episodeId: '000012-train-0000', reward: { least: -0.1, most: 0.25 } },
  ],
  ['#/models', { page: 'models' }],
  ['#/models/Qwen/Qwen2.5-0.5B', { page: 'models', repository: 'Qwen/Qwen2.5-0.5B' }],
  ['#/play', { page: 'play' }],
  ['#/play/frozen-lake-1', { page: 'play', runId: 'frozen-lake-1', checkpoint: null }],
  ['#/play/frozen-lake-1/40', { page: 'play', runId: 'frozen-lake-1', checkpoint: 40 }],
  ['#/run/frozen-lake-1', { page: 'run', runId: 'frozen-lake-1' }],
  ['#/run/frozen-lake-1/charts', { page: 'run', runId: 'frozen-lake-1', tab: 'charts' }],
  ['#/run/frozen-lake-1/checkpoints', { page: 'run', runId: 'frozen-lake-1', tab: 'checkpoints' }],
  ['#/run/frozen-lake-1/replay', { page: 'replay', runId: 'frozen-lake-1', episodeId: null }],
  ['#/run/a/evaluation/larger', { page: 'replay', runId: 'a', evaluation: 'larger', episodeId: null }],
  [
    '#/run/a/evaluation/larger/000012-lake-0037',
    { page: 'replay', runId: 'a', evaluation: 'larger', episodeId: '000012-lake-0037' },
  ],
  ['#/run/a/replay/000012-train-0037/turn/3', { page: 'replay', runId: 'a', episodeId: '000012-train-0037', turn: 3 }],
  [
    '#/run/a/evaluation/larger/000012-lake-0037/turn/1',
    { page: 'replay', runId: 'a', evaluation: 'larger', episodeId: '000012-lake-0037', turn: 1 },
  ],
  ['#/run/a/rescue', { page: 'rescue', runId: 'a' }],
  ['#/run/a/then-and-now', { page: 'then-and-now', runId: 'a', set: null, level: null }],
  ['#/run/a/then-and-now/lake/12', { page: 'then-and-now', runId: 'a', set: 'lake', level: 12 }],
  ['#/run/a/thoughts', { page: 'thoughts', runId: 'a', iteration: null }],
  ['#/run/a/thoughts/40', { page: 'thoughts', runId: 'a', iteration: 40 }],
  [
    '#/run/a/replay/000040-train-0003/thought/I%20go%2C%2050%20%25%2F2',
    {
      page: 'replay',
      runId: 'a',
      episodeId: '000040-train-0003',
      thought: { text: 'I go, 50 %/2', whole: true },
    },
  ],
  [
    '#/run/a/replay/000040-train-0003/opening/I',
    { page: 'replay', runId: 'a', episodeId: '000040-train-0003', thought: { text: 'I', whole: false } },
  ],
  ['#/run/a/replay/000012-train-0037', { page: 'replay', runId: 'a', episodeId: '000012-train-0037' }],
];

test.each(routes)('%s is parsed and formatted', (hash, route) => {
  expect(parseRoute(hash)).toEqual(route);
  expect(formatRoute(route)).toBe(hash);
});

test.each(['', '#', '#/', '#/start'])('%j is the start page', (hash) => {
  expect(parseRoute(hash)).toEqual({ page: 'start' });
});

test.each([
  '#/nothing',
  '#/study',
  '#/studies/a',
  '#/study/a/b',
  '#/compare/a/b',
  '#/run',
  '#/run/',
  '#/run/a/nothing',
  '#/run/a/overview',
  '#/run/a/charts/b',
  '#/run/a/evaluation',
  '#/new/run',
  '#/new/run/a/b',
  '#/new/a/b',
])('%j is not a page', (hash) => {
  expect(parseRoute(hash)).toEqual({ page: 'unknown', hash });
  expect(formatRoute(parseRoute(hash))).toBe(hash);
});

test('an address with a lone percent sign is used unchanged', () => {
  expect(parseRoute('#/run/100%')).toEqual({ page: 'run', runId: '100%' });
});

test('replace adds no history entry but notifies listeners', () => {
  const before = history.length;
  let received = 0;
  addEventListener('hashchange', () => received++, { once: true });
  navigate({ page: 'run', runId: 'a' }, true);
  expect(location.hash).toBe('#/run/a');
  expect(history.length).toBe(before);
  expect(received).toBe(1);
});
