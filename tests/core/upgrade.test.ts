import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { procedures } from '../../core/contract/contract.ts';
import { configVersion, upgradeConfig } from '../../core/run-config/upgrade.ts';
import { validateConfig } from '../../core/run-config/validate.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { root, World } from './fixtures/world.ts';

const fixtures = join(root, 'tests/fixtures/version-1');
const kept = readdirSync(fixtures).filter((name) => name !== 'README.md');
const configOf = (name: string) => JSON.parse(readFileSync(join(fixtures, name, 'run.json'), 'utf8'));

describe('a run.json of version 1', () => {
  test.each(kept)('of %s is brought to today’s form with every value it had', (name) => {
    const old = configOf(name);
    const before = structuredClone(old);
    const config = validateConfig(old);
    expect(old).toEqual(before);
    expect(config).toMatchObject({ ...old, version: configVersion });
    expect(config.start).toEqual({ ...old.start, run: '', checkpoint: 0, keep_optimizer: false });
    expect(config.parent).toEqual({ run: '', iteration: 0 });
  });

  test.each([
    ['frozen-lake', []],
    ['frozen-lake-slippery', ['slips']],
    ['sokoban', ['scored alike']],
    ['bandit', ['payouts']],
    ['mixed', ['payouts', 'mini-batches']],
  ])('of %s says what goes on differently: %j', (name, words) => {
    const { notes } = upgradeConfig(configOf(name));
    expect(notes).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(notes[index]).toContain(word);
  });

  test('says of settings only what concerns them', () => {
    const config = configOf('frozen-lake');
    Object.assign(config.kl, { estimator: 'k3', coefficient: 0 });
    expect(upgradeConfig(config).notes).toEqual([]);
    config.kl.coefficient = 0.1;
    expect(upgradeConfig(config).notes.join()).toContain('k3');
  });

  test.each([
    ['fraction', 0.29, 100, 1],
    ['fraction', 0.3, 100, 0],
    ['fraction', 0.25, 8, 0],
    ['top_p', 0.29, 100, 0],
  ])('says of a filter only where a group was lost: %s %d of %d', (strategy, keep, groups, told) => {
    const config = configOf('frozen-lake');
    Object.assign(config.filter, { strategy, keep });
    config.rollout.groups = groups;
    const { notes } = upgradeConfig(config);
    expect(notes.filter((note) => note.includes('a group less'))).toHaveLength(told);
  });

  test.each([null, 3, [], {}, { version: 1 }, { version: 1, start: 3, environments: {} }])(
    'that is nothing of the kind stays what it is: %j',
    (value) => {
      expect(() => upgradeConfig(value)).not.toThrow();
      expect(() => validateConfig(value)).toThrow();
    },
  );

  test('that is nested without end is refused, be it read or sent', () => {
    const nested = JSON.parse(`{"kl": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
    expect(() => upgradeConfig(nested)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    const sent = { config: nested, start: false };
    expect(procedures['runs.create'].input.safeParse(sent).success).toBe(false);
  });
});

describe('in core', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    for (const name of kept)
      cpSync(join(fixtures, name), join(world.home, 'runs', name), { recursive: true });
  });
  afterEach(() => world.close());

  test('kept runs of version 1 are listed, shown and replayed', async () => {
    const core = await world.core();
    const handlers = createHandlers(core);
    await Promise.all(kept.map((name) => core.supervisor.refresh(name)));
    expect(
      core.runs
        .list()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...kept].sort());
    for (const runId of kept) {
      expect(core.runs.get(runId)).toMatchObject({ status: 'interrupted', iteration: 2, iterations: 4 });
      const [file] = await handlers['rollouts.list']({ runId });
      const [episode] = await handlers['rollouts.episodes']({ runId, ...file! });
      const replay = await handlers['rollouts.replay']({ runId, episodeId: episode!.id });
      expect(replay.frames.length).toBeGreaterThan(0);
      expect(await handlers['evaluations.choices']({ runId })).toMatchObject({ levels: 12 });
    }
  });
});
