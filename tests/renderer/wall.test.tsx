import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { EpisodeSummary } from '../../core/contract/contract.ts';
import { environmentOf } from '../../renderer/environments/registry.ts';
import { groupsOf } from '../../renderer/player/groups.ts';
import { paintingOf } from '../../renderer/player/paintings.ts';
import { layoutWall } from '../../renderer/wall/wall-layout.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

describe('the layout of a wall', () => {
  const shape = { aspect: 1, width: 1130, height: 306 };

  test.each([
    [8, 16, 306],
    [16, 16, 306],
    [64, 1, 306],
    [1, 4, 100],
    [100, 16, 306],
  ])('%i groups of %i fit the width without overlap', (groups, members, height) => {
    const layout = layoutWall({ ...shape, groups, members, height });
    expect(layout.groups).toHaveLength(groups);
    expect(layout.width).toBeGreaterThanOrEqual(20);
    for (const [at, one] of layout.groups.entries()) {
      expect(one.x + one.width).toBeLessThanOrEqual(shape.width);
      expect(one.y + one.height).toBeLessThanOrEqual(layout.total + 0.5);
      for (const other of layout.groups.slice(0, at))
        expect(one.x >= other.x + other.width || one.y >= other.y + other.height).toBe(true);
    }
  });

  test.each([
    [16, [16, 8, 4, 2, 1]],
    [12, [12, 6, 4, 3, 2, 1]],
  ])('groups of %i have full rows in any window', (members, full) => {
    for (const width of [360, 700, 1130, 2300])
      expect(full).toContain(layoutWall({ ...shape, width, groups: 8, members }).across);
  });

  test.each([406, 880, 1300])(
    'flat boards leave room for their captions at a width of %i and fill the height',
    (width) => {
      const layout = layoutWall({ groups: 16, members: 16, aspect: 2, width, height: 385 });
      const lefts = [...new Set(layout.groups.map(({ x }) => x))].sort((a, b) => a - b);
      expect(layout.groups[0]!.width).toBeGreaterThanOrEqual(86);
      for (const [at, left] of lefts.entries()) if (at > 0) expect(left - lefts[at - 1]!).toBeGreaterThanOrEqual(102);
      expect(layout.total).toBeLessThanOrEqual(385);
      expect(layout.total).toBeGreaterThan(345);
    },
  );

  test('fits the height, and exceeds it if boards would get too small', () => {
    expect(layoutWall({ ...shape, groups: 8, members: 16 }).total).toBeLessThanOrEqual(306);
    const many = layoutWall({ ...shape, groups: 100, members: 16 });
    expect(many.width).toBe(20);
    expect(many.total).toBeGreaterThan(306);
  });
});

test('groups summarize their episodes', () => {
  const episode = (group: number, member: number, reward: number, kept = true) =>
    ({ group, member, reward, success: reward > 0, kept, seed: group, environment: 'e' }) as EpisodeSummary;
  const [same, mixed, single] = groupsOf([
    episode(1, 1, 0, false),
    episode(1, 0, 1, false),
    episode(0, 0, 0.1 + 0.2),
    episode(0, 1, 0.3),
    episode(2, 0, 1),
  ]);
  expect(same).toMatchObject({ group: 0, solved: 2, zeroVariance: true, kept: true });
  expect(mixed).toMatchObject({ group: 1, solved: 1, zeroVariance: false, kept: false, mean: 0.5 });
  expect(mixed!.rewardStd).toBeCloseTo(Math.SQRT1_2, 12);
  expect(mixed!.members.map(({ member }) => member)).toEqual([0, 1]);
  expect(single).toMatchObject({ rewardStd: null, zeroVariance: false });
});

describe('a painter', () => {
  const frame = (board: string | null, action: string | null = null, reward = 0) => ({
    ...{ board, action, reward },
    slipped: false,
  });
  const played = (...frames: ReturnType<typeof frame>[]) => ({ frames, config: {}, arms: null });

  test('moves the agent of a lake, smaller in a hole', () => {
    const frames = [frame('P_\n_O'), frame('_P\n_O', 'Right'), frame('__\n_X', 'Down')];
    const { scene, painter } = paintingOf('frozen-lake', played(...frames));
    expect(painter).toBe(environmentOf('frozen-lake').painter);
    expect(scene.pieces(0, 1)).toMatchObject([{ stamp: 'ice', x: 46, y: 46 }]);
    expect(scene.pieces(1, 0.5)).toMatchObject([{ stamp: 'ice', x: 78, y: 46 }]);
    expect(scene.pieces(2, 1)).toMatchObject([{ stamp: 'hole', x: 110, y: 110 }]);
    expect(scene.ground).toHaveLength(5);
  });

  test('moves a pushed box with the agent', () => {
    const frames = [frame('#####\n#PXO#\n#####'), frame('#####\n#_P√#\n#####', 'Right')];
    const { scene } = paintingOf('sokoban', played(...frames));
    expect(scene.pieces(1, 0.5)).toMatchObject([
      { stamp: 'loose', x: 192, y: 96 },
      { stamp: 'keeper', x: 128, y: 96 },
    ]);
    expect(scene.pieces(1, 1)[0]).toMatchObject({ stamp: 'stored', x: 224 });
  });

  test('shows the payout of a pulled Bandit arm', () => {
    const frames = [frame(null), frame(null, 'dragon', 1)];
    const { scene } = paintingOf('bandit', { ...played(...frames), arms: ['Phoenix', 'Dragon'] });
    const texts = (index: number) => scene.pieces(index, 1).flatMap((piece) => ('text' in piece ? piece.text : []));
    expect(texts(0)).toEqual(['?', 'Phoenix', '?', 'Dragon']);
    expect(texts(1)).toEqual(['?', 'Phoenix', '1', 'Dragon']);
  });

  test('shows unknown boards as text', () => {
    for (const type of ['maze', 'frozen-lake']) {
      const { scene } = paintingOf(type, played(frame('you are\nin a maze')));
      expect(scene.pieces(0, 1)).toMatchObject([{ text: 'you are' }, { text: 'in a maze' }]);
    }
  });
});

describe('the wall of a run', () => {
  const template = new World();
  let page: Page;
  let trained: string;
  beforeAll(async () => {
    const core = await template.core();
    trained = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
    await core.runs.start(trained);
    await untilRun(core, trained, ({ status }) => status === 'completed');
    await core.dispose();
    return () => template.close();
  });
  afterEach(async () => {
    await page.close();
    vi.unstubAllEnvs();
  });
  const links = () => page.all<HTMLAnchorElement>('ul[aria-label="Groups"] a');

  test('links its groups, and the arrow keys move between them', async () => {
    page = await Page.start(template);
    page.open(`#/run/${trained}`);
    await page.shown(() => links().length === 2);
    expect(links().map((link) => link.firstElementChild!.textContent)).toEqual([
      'Group 1: 3 of 4 solved, reward std 0.500',
      'Group 2: 3 of 4 solved, reward std 0.500, not trained on',
    ]);
    expect(links().map(({ tabIndex }) => tabIndex)).toEqual([0, -1]);
    links()[0]!.focus();
    links()[0]!.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    await page.shown(() => document.activeElement === links()[1] && links()[1]!.tabIndex === 0);
    links()[1]!.click();
    await page.shown(() => location.hash === `#/run/${trained}/group/4/2`);
    await page.shown(page.withText('h1', 'Group 2 of 2'));
  });

  test('states that there are no episodes yet, then shows each newest rollout', async () => {
    page = await Page.start();
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const { core } = page;
    const runId = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
    page.open(`#/run/${runId}`);
    await page.shown(page.withText('section', /No episodes yet.*first rollout is complete/));
    await core.runs.start(runId);
    await page.shown(page.withText('section', /Iteration 1: 6 of 8 solved/));
    await core.runs.command(runId, 'checkpoint');
    await page.shown(page.withText('section', /Iteration 4: 6 of 8 solved/));
  });
});
