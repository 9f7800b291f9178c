import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Game } from '../../core/contract/contract.ts';
import { goalText } from '../../renderer/pages/play/score-table.tsx';
import { putCheckpoint } from '../core/fixtures/playable.ts';
import { root, World } from '../core/fixtures/world.ts';
import { releaseRuns } from '../release-runs.ts';
import { Page } from './page.tsx';

const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');
const built = existsSync(trainer);
const unless = built ? '' : ' (skipped: the trainer is not built)';
const runId = 'frozen-lake-to-play';

describe.skipIf(!built)(`the Play page${unless}`, { timeout: 60_000 }, () => {
  let page: Page;
  beforeEach(async () => {
    const template = new World();
    const folder = join(template.home, 'runs', runId);
    cpSync(join(releaseRuns, 'frozen-lake'), folder, { recursive: true });
    for (const iteration of [0, 2]) putCheckpoint(folder, iteration);
    page = await Page.start(template, trainer);
    await template.close();
  });
  afterEach(() => page.close());

  const section = (name: string) => {
    const heading = page.all('h2').find(({ textContent }) => textContent === name);
    return heading?.closest('section') ?? null;
  };
  const sectionText = (name: string, text: RegExp) => () => section(name)?.textContent?.match(text);
  const button = (name: string) => () =>
    page.all('button').find(({ textContent, ariaLabel }) => (ariaLabel ?? textContent) === name);

  test('opens a level from the list of runs, plays both sides and counts the result', async () => {
    page.open('#/play');
    await page.click(page.withText('main th a', /FrozenLake/));
    await page.shown(sectionText('You', /10 of 10 actions left/));
    expect(section('You')!.querySelector('[role=img]')?.ariaLabel ?? '').toMatch(/^Your board\. Ready/);
    page.press('ArrowUp');
    await page.shown(sectionText('You', /9 of 10 actions left/));
    // The agent starts with the first move.
    await page.shown(sectionText('Agent', /Solved in \d+ actions?|Failed|Out of/));
    expect(section('Agent')!.textContent).toMatch(/Turn 1.*(goal|way)/s);
    await page.click(button('Restart'));
    await page.shown(sectionText('You', /10 of 10 actions left/));
    await page.shown(sectionText('Score', /0 of 1 solved.*Play 9 more levels.*failed 1 action/s));
    await page.click(button('Next level'));
    await page.shown(() => page.find<HTMLInputElement>('input[inputmode=numeric]')?.value === '2');
    await page.shown(sectionText('Agent', /Its reasoning appears here/));
    page.press('n');
    await page.shown(() => page.find<HTMLInputElement>('input[inputmode=numeric]')?.value === '3');
  });

  test('the agent samples with the chosen settings, and an invalid value is not used', async () => {
    page.open(`#/play/${runId}`);
    await page.shown(sectionText('Agent', /checkpoint 2/));
    const field = (label: string) =>
      page.all<HTMLLabelElement>('label').find(({ textContent }) => textContent === label)!.control as HTMLInputElement;
    expect(['Top-p', 'Top-k', 'Min-p'].map((label) => field(label).value)).toEqual(['1', '0', '0']);
    const used = new Promise((resolve) => {
      page.core.notices.on((kind, payload) => kind === 'play' && resolve((payload as { game: Game }).game.sampling));
    });
    page.write(field('Top-p'), '0.9');
    page.write(field('Top-k'), '1');
    field('Min-p').focus();
    page.write(field('Min-p'), '2');
    field('Min-p').blur();
    expect(field('Min-p').value).toBe('0');
    await page.click(button('Let the agent play'));
    expect(await used).toEqual({ temperature: 0.5, topP: 0.9, topK: 1, minP: 0 });
  });

  test('opens the checkpoint in the address or a chosen checkpoint, and reports a missing checkpoint', async () => {
    page.open(`#/play/${runId}/77`);
    await page.shown(page.withText('[role=alert]', /no checkpoint at iteration 77/));
    await page.click(button('Play the newest checkpoint'));
    await page.shown(sectionText('Agent', /checkpoint 2/));
    expect(page.find('[role=alert]')).toBeNull();
    expect(location.hash).toBe(`#/play/${runId}/2`);
    const choice = page.find<HTMLSelectElement>('select')!;
    choice.value = '0';
    choice.dispatchEvent(new Event('change', { bubbles: true }));
    await page.shown(sectionText('Agent', /checkpoint 0/));
    expect(location.hash).toBe(`#/play/${runId}/0`);
  });
});

test('the score is called saved only when the saved rate is the current one', () => {
  const saved = { environment: 'lake', levels: 10, successes: 7 };
  expect(goalText({ levels: 9, solved: 6 }, null)).toBe('Play 1 more level to save your score.');
  expect(goalText({ levels: 9, solved: 6 }, saved)).toBe('Saved: 7 of 10. Play 1 more level to replace it.');
  expect(goalText({ levels: 10, solved: 7 }, saved)).toMatch(/^Your score is saved\. /);
  expect(goalText({ levels: 11, solved: 8 }, saved)).toBe('Your score is not saved yet.');
});
