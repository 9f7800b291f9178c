import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { EpisodeSummary } from '../../core/contract/contract.ts';
import { frozenLake } from '../../core/environments/frozen-lake.ts';
import { mostInstructiveLevel, stageFiles } from '../../renderer/episodes/clip/clip.ts';
import type { EpisodeFile } from '../../renderer/episodes/episode-files.ts';
import { changedLevels, learnedOf, spansOf } from '../../renderer/episodes/learned.ts';
import { createReplayStore } from '../../renderer/player/replay-store.ts';
import { actTogether } from '../../renderer/player/together.ts';
import { fakeRollout } from '../core/fixtures/fake-rollout.mjs';
import { untilRun, World } from '../core/fixtures/world.ts';
import { replayOf, still } from './environments/replays.ts';
import { Page, small } from './page.tsx';

test('compares the oldest and newest checkpoint of each evaluation set', () => {
  const file = (iteration: number, set: string): EpisodeFile => ({
    ...{ iteration, set, split: set, evaluation: null },
    title: set,
  });
  const files = [file(20, 'train'), file(20, 'lake'), file(10, 'lake'), file(10, 'train'), file(0, 'lake')];
  const spans = spansOf([...files, file(0, 'bandit')]);
  expect(spans.map(({ set, early, late }) => [set, early.iteration, late.iteration])).toEqual([['lake', 0, 20]]);
  expect(spans[0]!.best).toBeNull();
  // The best checkpoint lies between the others and is at least 10 points better than the newest.
  const bestWith = (...success: number[]) =>
    spansOf(
      [30, 20, 10, 0].map((iteration) => file(iteration, 'lake')),
      (_, at) => success[at / 10],
    )[0]!.best?.iteration;
  expect(bestWith(0.2, 0.4, 0.5, 0)).toBe(20);
  expect(bestWith(0.2, 0.4, 0.4, 0.1)).toBe(20);
  expect(bestWith(0.2, 0.4, 0.5, 0.45)).toBeUndefined();
  expect(bestWith(0.6, 0.4, 0.5, 0)).toBeUndefined();
});

const episode = (group: number, success: boolean, turns = 1, actions = 1) =>
  ({ id: `${success ? 'late' : 'early'}-${group}`, group, success, turns, actions }) as EpisodeSummary;

test('learned levels failed early and succeeded late; long solutions come first, then fewest turns', () => {
  const early = [0, 1, 2, 3, 4].map((group) => episode(group, group === 0));
  const late = [
    episode(0, true, 1, 4),
    episode(1, true, 2, 9),
    episode(2, true, 1, 3),
    episode(3, false),
    episode(4, true, 1, 1),
  ];
  const levels = (thoughts?: Map<string, string>) => learnedOf(early, late, thoughts).map(({ group }) => group);
  expect(levels()).toEqual([2, 1, 4]);
  // Among these, levels whose reasoning changed come first; empty reasoning doesn't count.
  const looked = 'player 0,1 goal 1,0 safe path: down, left';
  const thoughts = new Map([
    ['early-1', looked],
    ['late-1', 'I go to the goal.'],
    ['early-2', 'I go to the goal.'],
    ['late-2', 'I go to a goal.'],
    ['early-4', ''],
    ['late-4', looked],
  ]);
  expect(levels(thoughts)).toEqual([1, 2, 4]);
});

test('a level that the best checkpoint learned and the newest fails is learned and lost', () => {
  const play = (...solved: number[]) => [0, 1, 2, 3].map((group) => episode(group, solved.includes(group)));
  const changes = (...args: Parameters<typeof changedLevels>) =>
    changedLevels(...args).map(({ group, change }) => `${group} ${change}`);
  expect(changes(play(0), play(0, 1, 2), play(1))).toEqual(['2 learned and lost', '1 learned', '0 lost']);
  expect(changes(play(0), null, play(1))).toEqual(['1 learned', '0 lost']);
  expect(changes(play(0), null, play(0))).toEqual([]);
});

test('a clip shows a level that stays solved, from the first checkpoint to the requested one', () => {
  const file = (iteration: number, set = 'lake'): EpisodeFile => ({
    ...{ iteration, set, split: set, evaluation: null, title: set },
  });
  const files = [80, 70, 60, 50, 40, 30, 20, 10, 0].map((iteration) => file(iteration));
  const stages = (upTo: number) =>
    stageFiles([file(20, 'train'), ...files], 'lake', upTo).map(({ iteration }) => iteration);
  expect(stages(80)).toEqual([0, 20, 40, 60, 80]);
  expect(stages(20)).toEqual([0, 10, 20]);
  expect(stages(0)).toEqual([0]);
  // Level 0 was solved, lost and solved again; level 1 takes one move; level 2 was never learned.
  const play = (...solved: boolean[]) => solved.map((success, at) => episode(at, success, 1, at === 1 ? 1 : 4));
  const [none, some] = [play(false, false, false, false), play(true, false, false, false)];
  const all = play(true, true, false, true);
  expect(mostInstructiveLevel([none, some, none, all])).toBe(3);
  expect(mostInstructiveLevel([none, play(false, true, false, false)])).toBe(1);
  expect(mostInstructiveLevel([all, all])).toBeNull();
  // A collapsed run: three stages lead to the peak, and the level that was learned and lost comes first.
  expect(stageFiles(files, 'lake', 80, 40).map(({ iteration }) => iteration)).toEqual([0, 20, 40, 50, 80]);
  expect(mostInstructiveLevel([none, all, play(true, false, true, true)], 1)).toBe(1);
  expect(mostInstructiveLevel([none, all, all], 1)).toBe(0);
});

test('two players play and pause together, and one that has ended waits for the other', () => {
  const stores = [2, 4].map((count) => {
    const store = createReplayStore();
    store.getState().show(
      replayOf(
        'frozen-lake',
        Array.from({ length: count }, () => still()),
      ),
    );
    return store;
  });
  const players = () => stores.map((store) => store.getState().player);
  actTogether(stores, { type: 'toggle' });
  expect(players().map(({ playing }) => playing)).toEqual([true, true]);
  actTogether(stores, { type: 'toggle' });
  stores[0]!.getState().act({ type: 'end' });
  actTogether(stores, { type: 'toggle' });
  expect(players().map(({ playing }) => playing)).toEqual([false, true]);
  actTogether(stores, { type: 'end' });
  actTogether(stores, { type: 'toggle' });
  expect(players()).toMatchObject([
    { playing: true, index: 0 },
    { playing: true, index: 0 },
  ]);
});

const template = new World();
let lake: string;
beforeAll(async () => {
  const core = await template.core();
  lake = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await core.runs.start(lake);
  await untilRun(core, lake, ({ status }) => status === 'completed');
  // The untrained policy fails every level.
  fakeRollout(core.runs.folder(lake), {}, 0, 'frozen-lake', { ...frozenLake.preset, success: 0 }, 16, 1);
  await core.dispose();
  return () => template.close();
});

let page: Page;
afterEach(() => page?.close());

test('a learned level plays at both checkpoints side by side', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/then-and-now`);
  await page.shown(page.withText('.muted', 'Learned: 16 of 16 levels'));
  const boards = () => page.all('section[aria-label*="checkpoint"] svg[role="img"]');
  await page.shown(() => boards().length === 2);
  await page.shown(page.withText('section', /^Thencheckpoint 0failed/));
  await page.shown(page.withText('section', /^Nowcheckpoint 4success/));
  await page.click('button[aria-label="Next level"]');
  await page.shown(() => location.hash === `#/run/${lake}/then-and-now/frozen-lake/2`);
  page.press('End');
  await page.shown(page.withText('section', /^Then.*fell into a hole/));
  await page.shown(page.withText('section', /^Now.*reached the goal/));
});

test('after a drop, the best checkpoint plays between the first and the newest', async () => {
  const dropped = new World();
  onTestFinished(() => dropped.close());
  const [from, folder] = [template, dropped].map(({ home }) => join(home, 'runs', lake)) as [string, string];
  cpSync(from, folder, { recursive: true });
  const events = readFileSync(join(folder, 'events.jsonl'), 'utf8');
  const last = '"evaluation/frozen-lake/success_rate":0.7,';
  expect(events).toContain(last);
  writeFileSync(join(folder, 'events.jsonl'), events.replace(last, last.replace('0.7', '0.1')));
  for (const [iteration, success] of [
    [2, 1],
    [4, 0],
  ] as const)
    fakeRollout(folder, {}, iteration, 'frozen-lake', { ...frozenLake.preset, success }, 16, 1);
  page = await Page.start(dropped);
  page.open(`#/run/${lake}/then-and-now`);
  await page.shown(page.withText('.muted', 'Learned: 16 of 16 levels, 16 of them lost again'));
  await page.shown(page.withText('section', /^Thencheckpoint 0failed/));
  await page.shown(page.withText('section', /^Bestcheckpoint 2success/));
  await page.shown(page.withText('section', /^Nowcheckpoint 4failed/));
  expect(page.find('option[value="0"]')?.textContent).toMatch(/^Level 1, \d+ actions, learned and lost$/);
  await page.click(page.withText('button', '2×'));
  page.press('End');
  await page.shown(page.withText('section', /^Best.*reached the goal/));
  await page.shown(page.withText('section', /^Now.*fell into a hole/));
});

test('the result of a run shows a clip, or why there is none', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}`);
  const clip = await page.shown(() => page.find('figure[aria-label="Clip of one level over the checkpoints"] canvas'));
  expect(clip.getAttribute('aria-label')).toMatch(
    /^Level \d+\. Before training: failed after .*, 0 % of 16 levels solved\. Iteration 2: .* Iteration 4: solved in /,
  );
  page.open('#/');
  await page.shown(() => !page.find('canvas'));
  rmSync(join(page.core.runs.folder(lake), 'rollouts/000000-frozen-lake.jsonl.zst'));
  page.open(`#/run/${lake}`);
  await page.shown(page.withText('p', /^No clip\. The file .*000000-frozen-lake.jsonl.zst was not found\./));
});

test('a level whose result did not change is replaced by one whose result did', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/then-and-now/frozen-lake/99`);
  await page.shown(page.withText('[role="status"]', /Level 99 was not learned or lost.*Showing level 1/));
});
