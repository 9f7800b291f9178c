import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { frozenLake } from '../../core/environments/frozen-lake.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { fakeRollout } from '../core/fixtures/fake-rollout.mjs';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

const template = new World();
let lake: string;
let bandit: string;
beforeAll(async () => {
  const core = await template.core();
  const train = async (preset: string) => {
    const runId = await core.runs.create({ preset, set: small });
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    return runId;
  };
  lake = await train('starter-frozen-lake');
  bandit = await train('starter-bandit');
  await core.dispose();
  return () => template.close();
});

let page: Page;
afterEach(() => page.close());
const board = () => page.find('.stage-board svg');

test("board and conversation follow the player's keys", async () => {
  page = await Page.start(template);
  const episodeId = '000004-train-0003';
  const { frames } = await createHandlers(page.core)['rollouts.replay']({ runId: lake, episodeId });
  page.open(`#/run/${lake}/replay/${episodeId}`);
  await page.shown(board);
  page.press('End');
  const last = frames.at(-1)!;
  await page.shown(page.withText('.transport-place', `${frames.length - 1} / ${frames.length - 1}`));
  await page.shown(() =>
    board()
      ?.getAttribute('aria-label')
      ?.includes(`Turn ${last.turn + 1}, action`),
  );
  await page.shown(page.withText('.turn[aria-current="step"] h3', `Turn ${last.turn + 1}`));
  page.press('Home');
  await page.shown(page.withText('.caption', 'Start'));
  page.press('ArrowRight');
  await page.shown(page.withText('.transport-place', '1 / '));
});

test('a group is shown side by side, with the first action that differs from the best episode', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0000`);
  await page.click(page.withText('a', 'Compare side by side'));
  await page.shown(() => location.hash === `#/run/${lake}/group/4/1`);
  const cards = () => page.all('ul[aria-label="Episodes of the group"] > li');
  await page.shown(() => cards().length === 4);
  await page.shown(page.withText('header p', /Iteration 4 · FrozenLake, seed \d+ · 3 of 4 solved · .* · trained on/));
  expect(cards().map((card) => card.querySelector('[data-differs]')?.textContent ?? null)).toEqual([
    null,
    null,
    'Right (first action that differs from episode 1)',
    null,
  ]);
  expect(cards()[2]!.textContent).toMatch(/Reward0/);
  // The player's keys move all boards.
  await page.shown(() => page.find('.transport'));
  page.press('End');
  await page.shown(() => cards()[0]!.querySelector('ol li:last-child[data-current]'));
  expect(cards()[2]!.querySelector('ol li:last-child[data-current]')).not.toBeNull();
});

test('an address lists only the episodes with a reward', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0000?reward=-0.025..0.025`);
  await page.shown(page.withText('.episodes-tools [role="status"]', '2 of 8 episodes, 0 successful'));
  await page.shown(page.withText('.stage-head h2', 'Group 1, episode 3'));
  await page.click('button[aria-label="Remove filter: Reward ≥ -0.025"]');
  await page.click('button[aria-label="Remove filter: Reward ≤ 0.025"]');
  await page.shown(page.withText('.episodes-tools [role="status"]', '8 of 8 episodes'));
});

test('another iteration shows the same group and episode', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-frozen-lake-0007`);
  await page.shown(board);
  await page.click('button[aria-label="Previous iteration"]');
  await page.shown(() => location.hash === `#/run/${lake}/replay/000002-frozen-lake-0007`);
  await page.shown(page.withText('.stage-head h2', 'Level 8'));
  await page.shown(page.withText('.stage-head', 'FrozenLake · seed'));
  expect(page.all('.file-choice option').map(({ textContent }) => textContent)).toContain('Evaluation: FrozenLake');
});

test('a filter selects one of the episodes it lists', async () => {
  page = await Page.start(template);
  page.open(`#/run/${bandit}/replay`);
  const rows = () => page.all('.episode-table tbody tr').length;
  await page.shown(page.withText('.stage-head .tag', 'failed'));
  const all = rows();
  await page.click(page.withText('button', /^Success$/));
  await page.shown(page.withText('.stage-head .tag', 'success'));
  expect(location.hash).toBe(`#/run/${bandit}/replay/000004-train-0001`);
  await page.click(page.withText('button', /^Failed$/));
  await page.shown(page.withText('.stage-head .tag', 'failed'));
  expect(page.all('.result[data-result="success"]').some((mark) => mark.closest('.episode-table'))).toBe(false);
  expect(rows()).toBeLessThan(all);
});

test('more filters narrow the list, and chips remove them', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0001`);
  const rows = () => page.all('.episode-table tbody th').map(({ textContent }) => textContent!.slice(1, 4));
  const chips = () => page.all('ul[aria-label="Active filters"] li').map(({ textContent }) => textContent);
  await page.shown(() => rows().length === 8 && board());
  await page.click(page.withText('button[aria-expanded="false"]', 'More filters'));
  const field = (label: string) => page.shown(() => page.find<HTMLInputElement>(`input[aria-label="${label}"]`));
  // No episode has a flag.
  expect(page.find('fieldset[aria-label="More filters"] button')).toBeNull();
  page.write(await field('Minimum reward'), '0.5');
  await page.shown(() => rows().join() === '1.1,1.2,1.4,2.1,2.2,2.4');
  page.write(await field('Group'), '2');
  await page.shown(() => rows().join() === '2.1,2.2,2.4');
  // The selected episode is one of those listed.
  await page.shown(() => location.hash.endsWith('/000004-train-0004'));
  await page.shown(page.withText('[role="status"]', '3 of 8 episodes, 3 successful'));
  await page.click(page.withText('button[aria-expanded="true"]', 'More filters'));
  await page.shown(() => !page.find('input[aria-label="Group"]'));
  expect(chips()).toEqual(['Group 2', 'Reward ≥ 0.5']);
  await page.click('button[aria-label="Remove filter: Reward ≥ 0.5"]');
  await page.shown(() => rows().join() === '2.1,2.2,2.3,2.4');
  await page.click('button[aria-label="Remove filter: Group 2"]');
  await page.shown(() => rows().length === 8 && chips().length === 0);
});

test('the list is one Tab stop, and the space bar plays the selected episode', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0001`);
  const links = () => page.all<HTMLAnchorElement>('a.episode');
  await page.shown(() => links()[1]?.tabIndex === 0 && board());
  expect(links().filter(({ tabIndex }) => tabIndex === 0)).toHaveLength(1);
  const press = (key: string) =>
    document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  links()[1]!.focus();
  press('ArrowDown');
  await page.shown(() => location.hash.endsWith('/000004-train-0002'));
  await page.shown(page.withText('.stage-head h2', 'Group 1, episode 3'));
  expect(document.activeElement).toBe(links()[2]);
  press(' ');
  await page.shown(() => page.find('button[aria-label="Pause (space)"]'));
});

test('a list of a thousand levels renders only visible rows and the neighbors of the selected one', async () => {
  page = await Page.start(template);
  fakeRollout(page.core.runs.folder(lake), {}, 4, 'frozen-lake', frozenLake.preset, 1000, 1);
  page.open(`#/run/${lake}/replay/000004-frozen-lake-0700`);
  const row = (level: number) => page.find(`.episode-table tr[aria-rowindex="${level + 1}"]`);
  const link = (level: number) => row(level)?.querySelector('a');
  await page.shown(() => link(701)?.ariaCurrent === 'true' && board());
  expect(page.find('.episode-table')!.getAttribute('aria-rowcount')).toBe('1001');
  expect(page.all('.episode-table a').length).toBeLessThan(60);
  expect(row(1)?.textContent).toContain('Level 1');
  expect(row(600)).toBeNull();
  expect(page.all<HTMLAnchorElement>('a.episode').filter(({ tabIndex }) => tabIndex === 0)).toEqual([link(701)]);
  // Rows that aren't rendered keep their space.
  const heights = page.all('.episodes-gap').map(({ style }) => Number.parseInt(style.height, 10));
  const drawn = page.all('.episode-table tbody tr:not(.episodes-gap)').length;
  expect(heights.reduce((sum, height) => sum + height, 0)).toBe((1000 - drawn) * 28);
  link(701)!.focus();
  link(701)!.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
  await page.shown(() => location.hash.endsWith('/000004-frozen-lake-0701'));
  await page.shown(() => link(703) && !link(700));
  expect(document.activeElement).toBe(link(702));
});

test('a rollout can be shown by group, and the episodes of a group side by side', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0001`);
  const mates = () => page.all<HTMLAnchorElement>('section[aria-label="Group"] li a');
  await page.shown(() => mates().length === 4);
  expect(mates()[2]!.firstElementChild!.textContent).toBe('Episode 3: failed, reward 0. player 0 goal 3 3');
  await page.click(page.withText('button', /^Groups$/));
  const group = await page.shown(page.withText('section[aria-label="Groups"] a', /^Group 2/));
  expect(group.textContent).toContain('Not trained on');
  group.click();
  await page.shown(page.withText('.stage-head h2', 'Group 2, episode 1'));
  await page.shown(page.withText('.stage-head .tag', 'not trained on'));
  await page.shown(() => mates()[0]?.href.endsWith('/000004-train-0004'));
});

test('an address with a turn starts at that turn', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0003/turn/2`);
  await page.shown(page.withText('.turn[aria-current="step"] h3', 'Turn 2'));
  await page.shown(page.withText('.caption', 'Turn 2, action 1'));
});

test('a level can be compared across checkpoints', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000002-frozen-lake-0007`);
  const places = () => page.all<HTMLButtonElement>('.level-checkpoint');
  await page.shown(() => places().length === 3 && places().every(({ disabled }) => !disabled));
  expect(places().map(({ textContent }) => textContent!.replace(/\D/g, ''))).toEqual(['0', '2', '4']);
  expect(places().findIndex((place) => place.ariaCurrent === 'true')).toBe(1);
  places()[2]!.click();
  await page.shown(() => location.hash === `#/run/${lake}/replay/000004-frozen-lake-0007`);
});

test.each(['000004-train-9999', '000999-train-0000', 'nonsense'])(
  'an address of the missing episode %s shows another episode with a note',
  async (episodeId) => {
    page = await Page.start(template);
    page.open(`#/run/${lake}/replay/${episodeId}`);
    await page.shown(page.withText('[role="status"]', `Episode ${episodeId} was not found`));
    await page.shown(() => page.find('a.episode[aria-current="true"]')?.textContent?.includes('Group 1, episode 1'));
    await page.shown(board);
    expect(page.find('.errors')?.textContent).toBe('');
    await page.click('.episode-table tbody tr:nth-child(2) a');
    expect(location.hash).toBe(`#/run/${lake}/replay/000004-train-0001`);
    await page.shown(() => !page.withText('[role="status"]', 'was not found')());
  },
);

test('following the newest file shows each new rollout at the same group and episode', async () => {
  page = await Page.start();
  vi.stubEnv('FAKE_TRAINER_HOLD', '1');
  const { core } = page;
  const runId = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await core.runs.start(runId);
  await untilRun(core, runId, ({ iteration }) => iteration === 1);
  const iteration = page.withText('.file-choice label:nth-child(2) option:checked', /./);
  const shows = (text: string) => () => iteration()?.textContent === text;
  page.open(`#/run/${runId}/replay/000001-train-0002`);
  await page.shown(page.withText('.stage-head h2', 'Group 1, episode 3'));
  await page.shown(shows('1'));
  await page.click(page.withText('button[aria-pressed="false"]', 'Follow newest'));
  await page.shown(() => location.hash === `#/run/${runId}/replay`);
  await core.runs.command(runId, 'checkpoint');
  await page.shown(shows('4'));
  await page.shown(page.withText('.stage-head h2', 'Group 1, episode 3'));
  vi.unstubAllEnvs();
});

test('an unknown address shows a message', async () => {
  page = await Page.start();
  page.open('#/nothing');
  await page.shown(page.withText('main', /Page not found.*#\/nothing/));
});
