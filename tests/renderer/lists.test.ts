// @vitest-environment node

import { describe, expect, test } from 'vitest';
import type { EpisodeSummary, LogLine, RolloutFile, RunSummary } from '../../core/contract/contract.ts';
import { voidText } from '../../renderer/components/episode-result.tsx';
import { duration, number, percent, signed } from '../../renderer/components/format.ts';
import { initials } from '../../renderer/components/run-facts.ts';
import { readSettings } from '../../renderer/dialogs/read-settings.ts';
import { episodeFiles, fileOf, findFile } from '../../renderer/episodes/episode-files.ts';
import {
  activeFilters,
  counterpart,
  environmentsOf,
  firstListing,
  flagsOf,
  type Listing,
  listed,
} from '../../renderer/pages/replay/episode-list.ts';
import { describeFilter, filterOf, ranked } from '../../renderer/pages/replay/filter-text.ts';
import { groupsOf, solvedText } from '../../renderer/player/groups.ts';
import { withRuns } from '../../renderer/stores/app-store.ts';
import { withEvaluation, withFile, withLine } from '../../renderer/views/run-store.ts';
import { evaluationOf, runOf } from './summaries.ts';

const episode = (change: Partial<EpisodeSummary>): EpisodeSummary => ({
  id: '',
  iteration: 1,
  split: 'train',
  environment: 'frozen-lake',
  group: 0,
  member: 0,
  seed: 0,
  reward: 0,
  success: false,
  ended: 'done',
  turns: 1,
  actions: 1,
  tokens: 10,
  kept: true,
  format_valid: true,
  ...change,
});

describe('the table of episodes', () => {
  const episodes = [
    episode({ id: 'a', group: 1, member: 0, reward: 1, success: true, kept: false }),
    episode({ id: 'b', group: 0, member: 1, reward: -0.1, tokens: 30 }),
    episode({ id: 'c', group: 0, member: 0, reward: 1, success: true }),
  ];
  const ids = (of: readonly EpisodeSummary[], listing: Partial<Listing>) =>
    listed(of, { ...firstListing, ...listing })
      .map(({ id }) => id)
      .join('');

  test('filters', () => {
    expect(ids(episodes, {})).toBe('cba');
    expect(ids(episodes, { filter: 'success' })).toBe('ca');
    expect(ids(episodes, { filter: 'failed' })).toBe('b');
    expect(ids(episodes, { trained: true })).toBe('cb');
  });

  test('sorts, with ties by group and member', () => {
    expect(ids(episodes, { sort: { key: 'reward', descending: true } })).toBe('cab');
    expect(ids(episodes, { sort: { key: 'reward', descending: false } })).toBe('bca');
    expect(ids(episodes, { sort: { key: 'tokens', descending: true } })).toBe('bca');
  });

  test('filters by environment', () => {
    const mixed = [...episodes, episode({ id: 'd', environment: 'bandit', success: true })];
    expect(environmentsOf(mixed)).toEqual(['frozen-lake', 'bandit']);
    expect(ids(mixed, { filter: 'success', environment: 'bandit' })).toBe('d');
    expect(ids(mixed, { environment: null })).toBe('cdba');
  });

  test('filters by group, and by inclusive ranges of reward and length', () => {
    expect(ids(episodes, { group: 0 })).toBe('cb');
    expect(ids(episodes, { group: 7 })).toBe('');
    expect(ids(episodes, { reward: { least: 1, most: null } })).toBe('ca');
    expect(ids(episodes, { reward: { least: null, most: 0.9 } })).toBe('b');
    expect(ids(episodes, { tokens: { least: 10, most: 29 } })).toBe('ca');
    expect(ids(episodes, { tokens: { least: 30, most: 30 } })).toBe('b');
    expect(ids(episodes, { group: 0, reward: { least: 1, most: null }, trained: true })).toBe('c');
  });

  test('filters by flags, and offers only flags that occur', () => {
    const flagged = [
      ...episodes,
      episode({ id: 'd', group: 2, format_valid: false }),
      episode({ id: 'e', group: 3, format_valid: false, ended: 'max_turns' }),
      episode({ id: 'f', group: 4, ended: 'context' }),
    ];
    expect(ids(flagged, { flags: ['invalid'] })).toBe('de');
    expect(ids(flagged, { flags: ['cut'] })).toBe('ef');
    expect(ids(flagged, { flags: ['invalid', 'cut'] })).toBe('e');
    const offered = (of: EpisodeSummary[], flags: Listing['flags'] = []) =>
      flagsOf(of, { ...firstListing, flags }).map(({ value }) => value);
    expect(offered(flagged)).toEqual(['invalid', 'cut']);
    expect(offered(episodes)).toEqual([]);
    expect(offered(episodes, ['cut'])).toEqual(['cut']);
  });

  test('lists active filters, which can be removed one by one', () => {
    const listing: Listing = {
      ...{ ...firstListing, trained: true, group: 2, reward: { least: -0.5, most: 1 } },
      ...{ tokens: { least: null, most: 40 }, flags: ['cut', 'invalid'] },
    };
    const on = activeFilters(listing, 'Level');
    expect(on.map(({ text }) => text)).toEqual([
      'Level 3',
      'Reward ≥ -0.5',
      'Reward ≤ 1',
      'Tokens ≤ 40',
      'Invalid format',
      'Cut short',
    ]);
    expect(on[1]!.without).toEqual({ ...listing, reward: { least: null, most: 1 } });
    let rest = listing;
    for (let left = on.length; left > 0; left--) rest = activeFilters(rest, 'Level')[0]!.without;
    expect(rest).toEqual({ ...firstListing, trained: true });
  });

  test('finds the same position in another file, else the first episode', () => {
    expect(counterpart(episodes, { group: 0, member: 1 })?.id).toBe('b');
    expect(counterpart(episodes, { group: 9, member: 1 })?.id).toBe('a');
    expect(counterpart([], null)).toBeUndefined();
  });
});

test('groups are ranked by their reward std, with the reason for keeping each', () => {
  const of = (group: number, rewards: number[], kept: boolean) =>
    rewards.map((reward, member) => episode({ group, member, reward, kept }));
  const groups = groupsOf([
    ...of(0, [0, 0], true),
    ...of(1, [0, 1], true),
    ...of(2, [1, 1], false),
    ...of(3, [0.5, 1], true),
  ]);
  const byStd = { score: 'reward_std', order: 'largest' };
  const reasons = (strategy: string, keep: number) =>
    ranked(groups, { ...byStd, strategy, keep }).map(({ group, reason }) => [group.group + 1, reason]);
  expect(reasons('fraction', 0.75)).toEqual([
    [2, 'rank 1 of 4, top 3 kept'],
    [4, 'rank 2 of 4, top 3 kept'],
    [1, 'zero variance; kept because too few groups have any'],
    [3, 'zero variance'],
  ]);
  expect(describeFilter({ ...byStd, strategy: 'fraction', keep: 0.75 }, groups)).toContain('75 %');
  expect(describeFilter({ ...byStd, strategy: 'fraction', keep: 0.75 }, groups)).toContain(': 3 of 4.');
  const byEntropy = { ...byStd, score: 'entropy', strategy: 'top_k', keep: 1 };
  expect(describeFilter(byEntropy, groups)).toContain('ranks groups by entropy, largest first');
  expect(ranked(groups, byEntropy)[0]!.reason).not.toContain('rank');
  expect(filterOf(null)).toEqual({ ...byStd, strategy: 'none', keep: 1 });
});

test.each([
  ['000012-train-0037', { iteration: 12, split: 'train' }],
  ['000020-frozen-lake-0005', { iteration: 20, split: 'frozen-lake' }],
  ['nonsense', null],
  [null, null],
])('the file of episode %s', (id, file) => {
  expect(fileOf(id, null)).toEqual(file && { ...file, evaluation: null });
});

test('rollout files are sorted newest first, training before evaluation, without duplicates', () => {
  const file = (iteration: number, split: string, episodes = 1): RolloutFile => ({
    iteration,
    split,
    episodes,
  });
  const files = [file(1, 'train'), file(2, 'lake'), file(2, 'train'), file(1, 'train', 7)].reduce<RolloutFile[]>(
    withFile,
    [],
  );
  expect(files).toEqual([file(2, 'train'), file(2, 'lake'), file(1, 'train', 7)]);
});

test('log lines are sorted, without duplicates', () => {
  const line = (seq: number, message = ''): LogLine => ({ seq, time: 0, level: 'info', message });
  const log = [line(1), line(5), line(3), line(5, 'again')].reduce<LogLine[]>(withLine, []);
  expect(log).toEqual([line(1), line(3), line(5, 'again')]);
});

test('runs are sorted newest first, and a newer summary replaces an older one', () => {
  const newest = runOf({ id: 'newest', createdAt: 2 });
  const older = runOf({ id: 'older', createdAt: 1 });
  const changesOf = (summary: RunSummary) => new Map([[summary.id, summary]]);
  const runs = [older, newest, { ...older, iteration: 99 }].reduce<RunSummary[]>(
    (before, each) => withRuns(before, changesOf(each)),
    [],
  );
  expect(runs.map(({ id, iteration }) => [id, iteration])).toEqual([
    ['newest', newest.iteration],
    ['older', 99],
  ]);
});

test('formatting of numbers', () => {
  expect([-0.5, 0, 0.0001234, 0.0312, 1.234, 12.34, 123.4, 12_340, 1_234_000].map(number)).toEqual([
    '−0.500',
    '0.000',
    '1.2e-4',
    '0.031',
    '1.23',
    '12.3',
    '123',
    '12.3k',
    '1.23M',
  ]);
  expect(percent(0.6567)).toBe('65.7 %');
  expect(percent(-0.2, 0)).toBe('−20 %');
  expect([1, -0.1, 0, 0.30000000000000004].map(signed)).toEqual(['+1', '−0.1', '0', '+0.3']);
  expect([42, 185, 7800, 273_600].map(duration)).toEqual(['42 s', '3 min 05 s', '2 h 10 min', '3 d 4 h']);
});

describe('episode files', () => {
  const rollouts: RolloutFile[] = [
    { iteration: 20, split: 'train', episodes: 8 },
    { iteration: 20, split: 'lake', episodes: 4 },
    { iteration: 0, split: 'lake', episodes: 4 },
  ];
  const onDemand = (checkpoint: number, changes: string[], name: string) =>
    evaluationOf({ state: 'done', label: 'lake', checkpoint, changes, name });
  const evaluations = [
    onDemand(10, [], 'between'),
    onDemand(20, [], 'again'),
    onDemand(20, ['size=6'], 'larger'),
    evaluationOf({ label: 'lake', checkpoint: 5 }),
  ];
  const files = episodeFiles(rollouts, evaluations);
  const found = (episodeId: string | null, evaluation: string | null) =>
    findFile(files, evaluations, episodeId, evaluation);

  test("an evaluation with the run's settings joins its set; one with other levels is its own set", () => {
    expect(files.map(({ set, iteration, evaluation }) => [set, iteration, evaluation])).toEqual([
      ['train', 20, null],
      ['lake', 20, null],
      ['lake, size=6', 20, 'larger'],
      ['lake', 10, 'between'],
      ['lake', 0, null],
    ]);
  });

  test('are named after their environment or its label', () => {
    const [training, own] = files.map(({ title }) => title);
    expect([training, own]).toEqual(['Training rollout', 'Evaluation: lake']);
    const larger = evaluationOf({ state: 'done', label: 'frozen-lake', changes: ['size=6'] });
    expect(episodeFiles([], [larger])[0]).toMatchObject({
      ...{ set: 'frozen-lake, size=6', split: 'frozen-lake', title: 'Evaluation: FrozenLake, size=6' },
    });
  });

  test('are found by address', () => {
    expect(found('000020-lake-0001', null)).toMatchObject({ set: 'lake', evaluation: null });
    expect(found('000020-lake-0001', 'larger')).toMatchObject({ set: 'lake, size=6' });
    expect(found(null, 'larger')).toMatchObject({ iteration: 20, evaluation: 'larger' });
    expect(found('000020-lake-0001', 'again')).toMatchObject({
      set: 'lake',
      iteration: 20,
      evaluation: null,
    });
    expect(found(null, 'nothing')).toBeNull();
  });
});

test('an evaluation replaces the one with its name, and disappears when canceled', () => {
  const first = evaluationOf({ name: 'a', time: 1 });
  const second = evaluationOf({ name: 'b', time: 2 });
  const both = withEvaluation([first], second);
  expect(both).toEqual([second, first]);
  expect(withEvaluation(both, { ...first, done: 3 })).toEqual([second, { ...first, done: 3 }]);
  expect(withEvaluation(both, { ...second, state: 'canceled' })).toEqual([first]);
});

test('settings of an evaluation are parsed from one line', () => {
  expect(readSettings(' size=6, hi_arm_name=Red Dragon,p = 0.9,odd')).toEqual({
    size: '6',
    hi_arm_name: 'Red Dragon',
    p: '0.9',
    odd: '',
  });
  expect(readSettings('')).toEqual({});
});

test('a narrow sidebar shows the initials of a run', () => {
  expect(['FrozenLake', 'FrozenLake, watch it collapse', 'bandit', 'clip 0.2', '…'].map(initials)).toEqual([
    ...['FL', 'FW', 'ba', 'C0', ''],
  ]);
});

test('a void episode is neither a success nor a failure, and counts in no figure of its group', () => {
  const failed = { reason: 'it did not answer within 30 s' };
  const members = [
    episode({ id: 'a', member: 0, reward: 1, success: true }),
    episode({ id: 'b', member: 1, reward: 0.5 }),
    episode({ id: 'c', member: 2, void: failed, ended: 'environment_failed', kept: false, turns: 0 }),
  ];
  const [group] = groupsOf(members);
  expect(group).toMatchObject({ voids: 1, solved: 1, mean: 0.75, kept: true, zeroVariance: false });
  expect(group!.rewardStd).toBeCloseTo(Math.sqrt(0.125));
  expect(solvedText(group!)).toBe('1 of 2 solved, 1 void');
  const [lost] = groupsOf([members[2]!]);
  expect(lost).toMatchObject({ voids: 1, solved: 0, mean: null, rewardStd: null });
  expect(ranked([lost!], filterOf(null))[0]!.reason).toBe('void: no episode could be played and scored');

  const ids = (change: Partial<Listing>) => listed(members, { ...firstListing, ...change }).map(({ id }) => id);
  expect(ids({})).toEqual(['a', 'b', 'c']);
  expect(ids({ filter: 'success' })).toEqual(['a']);
  expect(ids({ filter: 'failed' })).toEqual(['b']);
  expect(ids({ flags: ['void'] })).toEqual(['c']);
  expect(ids({ flags: ['cut'] })).toEqual([]);
  expect(ids({ reward: { least: null, most: 0.5 } })).toEqual(['b']);
});

test('a void episode names what failed', () => {
  expect(voidText({ reason: 'it did not answer within 30 s' })).toBe(
    'the environment failed: it did not answer within 30 s',
  );
  expect(voidText({ reason: 'reward program: it exited' })).toBe('the reward program failed: it exited');
});
