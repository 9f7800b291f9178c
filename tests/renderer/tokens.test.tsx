import { createHash } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { EpisodeTokens } from '../../core/contract/contract.ts';
import { exportFileName } from '../../core/contract/file-names.ts';
import { episodePage } from '../../renderer/episodes/save/episode-page.ts';
import { playerHash, playerScript } from '../../renderer/episodes/save/page-player.ts';
import { partsOf } from '../../renderer/pages/replay/claim-text.tsx';
import { measureFor } from '../../renderer/pages/replay/tokens/token-preference.ts';
import { describeToken, measuresOf, scaleOf } from '../../renderer/pages/replay/tokens/token-scale.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { acted, replayOf, still } from './environments/replays.ts';
import { Page, small } from './page.tsx';

const tokens: EpisodeTokens = {
  turns: [
    {
      texts: ['go', ' left'],
      logprobs: [-0.5, -4],
      entropies: [0.25, null],
      advantages: [-2, 1],
      values: null,
    },
  ],
};

test('tokens are colored by entropy until another choice, if their text is known', () => {
  const readable = { ...tokens, turns: tokens.turns.map((turn) => ({ ...turn, texts: turn.logprobs.map(() => 'a') })) };
  const unreadable = { ...tokens, turns: tokens.turns.map((turn) => ({ ...turn, texts: null })) };
  expect(measureFor(undefined, readable)).toBe('entropies');
  expect(measureFor(undefined, unreadable)).toBeNull();
  expect(measureFor(undefined, null)).toBeNull();
  expect(measureFor(null, readable)).toBeNull();
  expect(measureFor('logprobs', unreadable)).toBe('logprobs');
});

test("tokens are colored by the file's measures, each with its own scale", () => {
  expect(measuresOf(tokens)).toEqual(['entropies', 'logprobs', 'advantages']);
  const strengths = (measure: 'logprobs' | 'advantages' | 'entropies') =>
    tokens.turns[0]![measure]!.map(scaleOf(tokens, measure).strength);
  expect(strengths('logprobs')).toEqual([0.125, 1]);
  expect(strengths('advantages')).toEqual([-1, 0.5]);
  expect(strengths('entropies')).toEqual([1, 0]);
  expect(scaleOf(tokens, 'advantages')).toMatchObject({ from: -2, to: 2 });
  expect(scaleOf(tokens, 'logprobs')).toMatchObject({ from: 0, to: -4 });
  expect(describeToken(tokens.turns[0]!, 0)).toBe('entropy 0.250 nats · log-probability −0.500 (61 %) · advantage −2');
});

test('a saved page with a picture per board has a player, the only script that its policy allows', () => {
  expect(playerHash).toBe(`sha256-${createHash('sha256').update(playerScript).digest('base64')}`);
  const replay = replayOf('maze', [still({ board: 'a' }), acted({ action: 'Up', board: 'b' })]);
  const html = episodePage({
    replay,
    run: 'Lake',
    pictures: ['data:image/png;base64,AA==', 'data:image/png;base64,BB=='],
  });
  const page = new DOMParser().parseFromString(html, 'text/html');
  expect([...page.querySelectorAll('script')].map(({ textContent }) => textContent)).toEqual([playerScript]);
  expect(page.querySelector('meta[http-equiv]')!.getAttribute('content')).toContain(`script-src '${playerHash}'`);
});

test('a saved page contains everything as text and loads nothing', () => {
  const evil = '</pre><script>alert(1)</script><img src=x onerror="a()">';
  const replay = replayOf('maze', [still({ board: evil }), acted({ action: evil, board: evil })], {
    prompt: evil,
    turns: [
      {
        ...{ state: evil, response: evil, think: evil, answer: evil, actions: [evil], formatValid: false },
        // A program chooses the names of its terms.
        terms: [{ title: evil, value: 1 }],
        ...{
          reward: 1,
          penalty: -0.1,
          omittedTokens: 0,
          beginsContext: true,
          tokens: 1,
          logprobMean: 0,
          entropyMean: 0,
        },
        claims: { checked: 1, false: [{ start: 0, end: evil.length, fact: evil }] },
      },
    ],
  });
  const html = episodePage({
    replay,
    run: `my "run" ${evil}`,
    pictures: ['data:image/png;base64,AA=="><b>'],
  });
  const page = new DOMParser().parseFromString(html, 'text/html');
  expect(page.querySelectorAll('script, b, [onerror], link, iframe')).toHaveLength(0);
  expect([...page.querySelectorAll('img')].map((image) => image.getAttribute('src'))).toEqual([
    'data:image/png;base64,AA=="><b>',
  ]);
  expect([...page.querySelectorAll('pre')].every(({ textContent }) => textContent.includes(evil))).toBe(true);
  expect(page.querySelector('meta[http-equiv]')!.getAttribute('content')).toMatch(/^default-src 'none'/);
  expect(page.title).toContain(evil);
  expect([...page.querySelectorAll('h2')].map(({ textContent }) => textContent).join()).toMatch(
    /,Turn 1, new context: reward/,
  );
  expect(page.body.textContent).toMatch(/Iteration \d+, group \d+, episode \d+/);
  expect(html).not.toContain(replay.summary.id);
});

test('file names contain run and episode, without invalid characters', () => {
  expect(exportFileName('Lake: 1/2 “x”', 'iteration 1, level 3', 'gif')).toBe('Lake-1-2-x-iteration-1-level-3.gif');
  expect(exportFileName('../../.profile', '', 'starpo.zip')).toBe('profile.starpo.zip');
  expect(exportFileName('Höhle 湖 LR 1.7e-4', 'metrics', 'csv')).toBe('Höhle-湖-LR-1.7e-4-metrics.csv');
  expect(exportFileName('🎲', 'metrics', 'csv')).toBe('metrics.csv');
  expect(Buffer.byteLength(exportFileName('𐐀'.repeat(80), 'metrics', 'csv'))).toBeLessThan(255);
});

const template = new World();
let lake: string;
beforeAll(async () => {
  const core = await template.core();
  lake = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await core.runs.start(lake);
  await untilRun(core, lake, ({ status }) => status === 'completed');
  await core.dispose();
  return () => template.close();
});

let page: Page;
afterEach(() => page?.close());

test('responses are shown by token, and the arrow keys select tokens without moving the player', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0001`);
  const choice = await page.shown(() => page.find<HTMLSelectElement>('.conversation select'));
  const { set } = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value')!;
  set!.call(choice, 'logprobs');
  choice.dispatchEvent(new Event('change', { bubbles: true }));
  const text = await page.shown(() => page.find('[data-own-keys]'));
  const press = (key: string) =>
    text.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const status = page.withText('.turn [role="status"]', /^Token 1 entropy 0.500 nats/);
  press('ArrowRight');
  await page.shown(status);
  press('ArrowRight');
  await page.shown(
    page.withText('.turn [role="status"]', /^Token 2 entropy 0.250 nats · log-probability −0.250 .78 %.$/),
  );
  expect(page.find('.transport-place')!.textContent).toMatch(/^0 \//);
  expect([...choice.options].map(({ value }) => value)).toEqual(['', 'entropies', 'logprobs']);
});

test('missing measures of a filtered episode are explained', async () => {
  page = await Page.start(template);
  page.open(`#/run/${lake}/replay/000004-train-0004`);
  const choice = await page.shown(() => page.find<HTMLSelectElement>('.conversation select'));
  page.choose(choice, 'advantages');
  await page.shown(page.withText('.conversation p', "No advantages: this episode wasn't trained on."));
});

test('false claims split the reasoning, and text that two of them share appears once', () => {
  const fact = 'It is at 1,2.';
  const claims = [
    { start: 7, end: 11, fact },
    { start: 2, end: 5, fact },
    { start: 4, end: 6, fact },
  ];
  expect(partsOf('0123456789', claims)).toEqual([
    { text: '01', isFalse: false },
    { text: '234', isFalse: true },
    { text: '5', isFalse: true },
    { text: '6', isFalse: false },
    { text: '789', isFalse: true },
  ]);
});
