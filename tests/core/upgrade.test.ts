import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { procedures } from '../../core/contract/contract.ts';
import { upgradeConfig } from '../../core/run-config/upgrade.ts';
import { validateConfig } from '../../core/run-config/validate.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { copyReleaseRun, releaseEnvironments } from '../release-runs.ts';
import { World } from './fixtures/world.ts';

/** A made-up history of versions. The trainer's tests apply the same history. */
const table = [
  {
    to: 2,
    changes: [
      { path: 'levels.count', set: 0 },
      { path: 'environments[].label', rename: 'name' },
    ],
    notes: [
      { when: [{ path: 'environments[].type', is: 'bandit' }], text: 'bandit' },
      {
        when: [
          { path: 'environments', longer_than: 1 },
          { path: 'seed', above: 3 },
        ],
        text: 'many',
      },
    ],
  },
  { to: 3, changes: [{ path: 'mood', set: { calm: true } }], notes: [] },
];

describe('the upgrade of a run.json', () => {
  const old = {
    version: 1,
    seed: 4,
    levels: {},
    environments: [{ type: 'bandit', label: 'a' }, { label: 'b' }],
  };

  test('applies the changes of every later version to a copy, with notes on what changes', () => {
    const before = structuredClone(old);
    expect(upgradeConfig(old, table)).toEqual({
      config: {
        version: 3,
        seed: 4,
        levels: { count: 0 },
        mood: { calm: true },
        environments: [{ type: 'bandit', name: 'a' }, { name: 'b' }],
      },
      notes: ['bandit', 'many'],
    });
    expect(old).toEqual(before);
  });

  test('leaves a run.json of the newest version as it is', () => {
    const { config } = upgradeConfig(old, table);
    expect(upgradeConfig(config, table)).toEqual({ config, notes: [] });
  });

  test('adds a note only if all of its conditions hold', () => {
    expect(upgradeConfig({ ...old, seed: 3 }, table).notes).toEqual(['bandit']);
    expect(upgradeConfig({ ...old, environments: [] }, table).notes).toEqual([]);
  });

  test.each([null, 3, [], {}, { version: 1 }, { version: 1, levels: 3, environments: {} }])(
    'keeps malformed values: %j',
    (value) => {
      expect(() => upgradeConfig(value, table)).not.toThrow();
      expect(() => validateConfig(value)).toThrow();
    },
  );

  test('rejects endless nesting in files and requests', () => {
    const nested = JSON.parse(`{"kl": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
    expect(() => upgradeConfig(nested)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    const sent = { config: nested, start: false };
    expect(procedures['runs.create'].input.safeParse(sent).success).toBe(false);
  });
});

describe('runs of release 1.0.0-beta.1', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    for (const name of releaseEnvironments) copyReleaseRun(name, `${world.home}/runs/${name}`);
  });
  afterEach(() => world.close());

  test('are listed, shown and replayed', async () => {
    const core = await world.core();
    const handlers = createHandlers(core);
    await Promise.all(releaseEnvironments.map((name) => core.supervisor.refresh(name)));
    expect(
      core.runs
        .list()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(releaseEnvironments);
    for (const runId of releaseEnvironments) {
      expect(core.runs.get(runId)).toMatchObject({ status: 'interrupted', iteration: 2, iterations: 3 });
      const [file] = await handlers['rollouts.list']({ runId });
      const [episode] = await handlers['rollouts.episodes']({ runId, ...file! });
      const replay = await handlers['rollouts.replay']({ runId, episodeId: episode!.id });
      expect(replay.frames.length).toBeGreaterThan(0);
      expect(await handlers['evaluations.choices']({ runId })).toMatchObject({ levels: 4 });
    }
  });
});
