// Takes screenshots of every page: npm run build, then node tests/renderer/screens/take.ts FOLDER [AXE] [PATTERN]
// With --documented after the folder, takes only those in docs/screenshots, like `npm run screenshots`.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../../scripts/lib/debian-packages.mjs';
import { fakeTrainer, root } from '../../core/fixtures/world.ts';
import { violations } from '../../e2e/axe.ts';
import { lookUp, playLevels, playStudio } from './play.ts';
import { drawn, watch } from './still.ts';
import { busyStudio, equippedStudio, libraryStudio, Served, warnedStudio } from './studio.ts';
import { trappedStudio } from './trap.ts';

type Steps = (page: Page) => Promise<unknown>;
/** Name, address, and steps before the screenshot. */
type Picture = [name: string, address: string, steps?: Steps];

const folder = resolve(process.argv[2] ?? 'out/screens');
const documenting = process.argv[3] === '--documented';
/** True to run axe. */
const axe = !documenting && process.argv[3] !== undefined;
/** Screenshots in docs/screenshots, with their file names. */
const documented: Record<string, string> = {
  'start-first': 'start',
  sample: 'run',
  'sample-charts': 'charts',
  'sample-replay': 'replay',
  'sample-then-and-now': 'then-and-now',
  'sample-thoughts': 'thoughts',
  'sample-new': 'new',
  export: 'export',
  'trap-collapsing': 'echo-trap',
  history: 'history',
  'history-episodes': 'episodes',
  'history-trash': 'trash',
  compare: 'compare',
  studies: 'studies',
  study: 'study',
  'play-models-found': 'models',
  system: 'system',
  'play-going': 'play',
};
const only = process.argv[4];
const isWanted = (name: string) => (documenting ? name in documented : !only || name.match(only) !== null);

const wide = [
  ['light', 1440, 900],
  ['dark', 1440, 900],
] as const;
const narrow = [
  ['light', 1024, 700],
  ['dark', 1024, 700],
] as const;
/** The second is 1440 px at 200 % zoom. */
const others = [
  ['dark', 1920, 1080],
  ['light', 720, 450],
] as const;
const kinds = documenting ? wide : [...wide, ...narrow, ...others];

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: chromiumPath() });

await takeAll(busyStudio, (runs) => [
  ['start', '/start'],
  ['start-baseline', '/start', chooseBaselines],
  ['start-published-no-gpu', '/start', scrollToPublished],
  ['queue', '/queue'],
  ['start-asked', '/start', askToQueue],
  ['new', '/new/starter-frozen-lake?rollout.groups=8'],
  ['new-sections', '/new/starter-mixed-starpo-s', openSections],
  ['new-prompts', '/new/starter-mixed-starpo-s', scrollToPrompts],
  ['new-import', '/new/starter-frozen-lake', openImport],
  ['new-study', '/studies/new/starter-frozen-lake', varySome],
  ['new-paper-study', '/studies/new/starter-frozen-lake', openPaperStudy],
  ['new-fork', `/new/run/${runs.lake}/20`],
  ['run', `/run/${runs.lake}`],
  ['run-charts', `/run/${runs.lake}/charts`],
  ['run-episodes', `/run/${runs.lake}/episodes`],
  ['run-checkpoints', `/run/${runs.lake}/checkpoints`],
  ['run-log', `/run/${runs.lake}/log`],
  ['run-configuration', `/run/${runs.lake}/configuration`],
  ['run-evaluate', `/run/${runs.lake}/checkpoints`, (page) => page.getByRole('button', { name: /^Evaluate…/ }).click()],
  ['run-fork', `/run/${runs.lake}/checkpoints`, (page) => page.getByRole('button', { name: /^Fork/ }).first().click()],
  ['run-sokoban', `/run/${runs.sokoban}/episodes`],
  ['run-zoomed', `/run/${runs.lake}/charts`, zoomAndPoint],
  ['run-chart-enlarged', `/run/${runs.lake}/charts`, enlarge],
  ['compare', `/compare/${runs.lake},${runs.paused},${runs.interrupted}`],
  ['compare-empty', '/compare'],
  ['run-queued', `/run/${runs['queued-starter-bandit']}`],
  ['run-marked', `/run/${runs.bandit}`, writeNote],
  ['run-failed', `/run/${runs.failed}`],
  ['run-created', `/run/${runs.created}`],
  ['run-interrupted', `/run/${runs.interrupted}`],
  ['run-paused', `/run/${runs.paused}`],
  ['run-unknown', '/run/nothing'],
  ['page-unknown', '/nothing'],
  ['export', `/run/${runs.lake}/export`, showMethods],
  ['export-created', `/run/${runs.created}/export`],
  ['replay', `/run/${runs.lake}/replay`, stepped(4)],
  ['replay-level', `/run/${runs.lake}/replay/000060-frozen-lake-0004`, stepped(1)],
  ['replay-slip', `/run/${runs.paused}/replay/000041-train-0003`, stepped(2)],
  ['replay-fall', `/run/${runs.paused}/replay/000041-train-0002`, stepped(2)],
  ['replay-sokoban', `/run/${runs.sokoban}/replay/000020-train-0000`, stepped(2)],
  ['replay-sokoban-lost', `/run/${runs.sokoban}/replay/000020-train-0001`, stepped(5)],
  ['replay-bandit', `/run/${runs.bandit}/replay`, stepped(1)],
  ['replay-tokens', `/run/${runs.lake}/replay/000080-train-0003`, colorTokens],
  ['replay-groups', `/run/${runs.lake}/replay/000080-train-0003`, showGroups],
  ['then-and-now', `/run/${runs.lake}/then-and-now`],
  ['replay-unknown', `/run/${runs.lake}/replay/000087-train-9999`],
]);

await takeAll(libraryStudio, (runs) => [
  ['history', '/history'],
  ['history-chosen', '/history', choose],
  ['history-filtered', '/history', (page) => page.getByLabel('Search runs').fill('bandit')],
  ['history-none', '/history', (page) => page.getByLabel('Search runs').fill('nothing is called this')],
  [
    'history-menu',
    '/history',
    (page) =>
      page
        .getByLabel(/^More for/)
        .nth(2)
        .click(),
  ],
  ['history-delete', '/history', askToDelete],
  ['history-clean', '/history', (page) => page.getByRole('button', { name: 'Free disk space…' }).click()],
  ['history-import', '/history', (page) => page.getByRole('button', { name: 'Import runs…' }).click()],
  ['history-trash', '/history/trash'],
  ['history-episodes', '/history/episodes', searchEpisodes],
  ['palette', `/run/${runs.lake}`, (page) => page.keyboard.press('Control+k')],
  ['palette-typed', '/start', typeInPalette],
  ['keys', '/start', (page) => page.keyboard.press('Shift+?')],
  ['run-head', `/run/${runs.lake}`],
  ['run-head-paused', `/run/${runs.paused}`, askForCheckpoint],
  [
    'run-head-completed',
    `/run/${runs.sokoban}`,
    (page) =>
      page
        .getByLabel(/^More for/)
        .first()
        .click(),
  ],
  ['run-train-more', `/run/${runs.sokoban}`, (page) => page.getByRole('button', { name: 'Train more…' }).click()],
  ['run-head-stop', `/run/${runs.lake}`, (page) => page.getByRole('button', { name: 'Stop…' }).click()],
  ['run-head-rename', `/run/${runs.lake}`, rename],
  ['run-head-note', `/run/${runs.lake}`, (page) => page.getByRole('button', { name: 'Add note' }).click()],
]);

await takeAll(trappedStudio, (runs) => [
  ['trap-healthy', `/run/${runs.healthy}`],
  ['trap-healthy-open', `/run/${runs.healthy}`, openTrap],
  ['trap-locked', `/run/${runs.locked}`],
  ['trap-warned', `/run/${runs.warned}`],
  ['trap-warned-asked', `/run/${runs.warned}`, askToRollBack],
  ['trap-collapsing', `/run/${runs.collapsing}`],
  ['trap-collapsing-evidence', `/run/${runs.collapsing}`, openTrap],
  ['trap-collapsing-charts', `/run/${runs.collapsing}/charts`, pointAtMark],
  ['trap-chaos', `/run/${runs.chaos}`],
  ['trap-fork', `/run/${runs.fork}`],
  ['thoughts-early', `/run/${runs.collapsing}/thoughts/5`],
  ['thoughts-late', `/run/${runs.collapsing}/thoughts/60`],
  ['replay-thought', `/run/${runs.collapsing}/thoughts/30`, chooseLeaf],
]);

await takeAll(playStudio, (runs) => [
  ['play-choose', '/play'],
  ['play', `/play/${runs['frozen-lake']}`],
  ['play-going', `/play/${runs['frozen-lake']}`, playLevels(4)],
  ['play-sokoban', `/play/${runs.sokoban}`, playLevels(1)],
  ['play-bandit', `/play/${runs.bandit}`],
  ['play-problem', `/play/${runs.bandit}/77`],
  ['play-models', '/models'],
  ['play-models-found', '/models', lookUp(false)],
  ['play-models-stopped', '/models', lookUp(true)],
  ['system', '/system', measuredFor(8)],
  ['settings', '/settings'],
]);

await takeAll(warnedStudio, (runs) => [['run-warned', `/run/${runs.lake}`]]);
await takeAll(
  () => Served.start(),
  () => [['start-empty', '/start']],
);
await takeAll(
  () => Served.start(fakeTrainer, join(root, 'resources/sample.starpo.zip')),
  () => [
    ['start-first', '/start', boardsAtEnd],
    ['sample', '/run/sample-run', boardsAtEnd],
    ['sample-then-and-now', '/run/sample-run/then-and-now', stepTogether],
    ['sample-charts', '/run/sample-run/charts'],
    ['sample-replay', '/run/sample-run/replay/000120-train-0183', colorTokens],
    ['sample-thoughts', '/run/sample-run/thoughts'],
    ['sample-new', '/new/starter-mixed-starpo-s?rollout.groups=24'],
  ],
);
await takeAll(
  () => Served.start('/nowhere/starpo-trainer'),
  () => [['start-trainer-missing', '/start']],
);

let studied = '';
await takeAll(
  async () => {
    const studio = await Served.start();
    studied = await studio.study();
    return studio;
  },
  () => [
    ['studies', '/studies'],
    ['study', `/study/${studied}`],
  ],
);

process.env.FAKE_TRAINER_GPU = String(85e9);
await takeAll(equippedStudio, (runs) => [
  ['start-published', '/start', scrollToPublished],
  ['new-published', '/new/qwen2.5-3b-sokoban-starpo-s'],
  ['run-memory', `/run/${runs.planned}/configuration`],
]);
await browser.close();

/** `make` creates the app, called only if any of its screenshots is requested. */
async function takeAll(
  make: () => Promise<Served>,
  pictures: (runs: Record<string, string>) => Picture[],
): Promise<void> {
  if (!pictures({}).some(([name]) => isWanted(name))) return;
  const served = await make();
  try {
    for (const [colorScheme, width, height] of kinds) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme });
      for (const picture of pictures(served.runs)) {
        const [name] = picture;
        const file = documenting ? `${documented[name]}-${colorScheme}` : `${name}-${colorScheme}-${width}`;
        if (isWanted(name)) await take(context, served.address, picture, file);
      }
      await context.close();
    }
  } finally {
    await served.close();
  }
}

async function take(
  context: BrowserContext,
  origin: string,
  [name, address, steps]: Picture,
  file: string,
): Promise<void> {
  const page = await context.newPage();
  const watched = watch(page);
  page.on('pageerror', (error) => console.log(`${name}: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && console.log(`${name}: ${message.text()}`));
  await page.goto(`${origin}${address}`);
  await page.waitForSelector('h1, .note');
  await watched.still();
  await steps?.(page);
  await watched.still();
  if (documenting) await page.evaluate(hidePlace, root);
  await page.screenshot({ path: resolve(folder, `${file}.png`) });
  if (axe) for (const each of await violations(page)) console.log(`${file}: ${each}`);
  await page.close();
}

/** Hides the checkout's path. */
function hidePlace(place: string): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    node.nodeValue = node.nodeValue!.replaceAll(place, 'starpo-studio').replace(/(Linux \d+\.\d+)\S+/, '$1');
}

/** Shows final positions, as with reduced motion. */
async function boardsAtEnd(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.reload();
  await page.getByRole('list', { name: 'Groups' }).waitFor();
}

function stepped(times: number): Steps {
  return async (page) => {
    // Moves end with the next frame.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.locator('.transport-place').waitFor();
    for (let step = 0; step < times; step++) {
      await page.keyboard.press('ArrowRight');
      await page.evaluate(drawn);
    }
  };
}

async function stepTogether(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
  for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
}

/** Waits until the gauges have enough samples. */
function measuredFor(samples: number): Steps {
  return async (page) => {
    const gauge = page.getByRole('region', { name: 'Devices' }).locator('path').last();
    await page.waitForFunction(
      ([path, least]) => path!.getAttribute('d')!.split('L').length >= least,
      [await gauge.elementHandle(), samples] as const,
      { timeout: 120_000 },
    );
  };
}

async function colorTokens(page: Page): Promise<void> {
  await page.getByLabel('Color tokens by').selectOption('entropies');
  await page.locator('[data-own-keys]').first().focus();
}

async function showGroups(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Groups' }).click();
}

async function zoomAndPoint(page: Page): Promise<void> {
  const plot = page.locator('[data-chart] .u-over').first();
  const { x, y, width, height } = (await plot.boundingBox())!;
  await page.mouse.move(x + width * 0.3, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.8, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 3 });
}

async function showMethods(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Show Methods paragraph' }).click();
  await page.getByRole('region', { name: 'Methods paragraph' }).waitFor();
}

async function enlarge(page: Page): Promise<void> {
  await page.getByRole('figure', { name: 'Success', exact: true }).hover();
  await page.getByRole('button', { name: 'Enlarge Success', exact: true }).click();
  await page.getByRole('dialog').locator('.u-over').waitFor();
}

async function openTrap(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Echo Trap/ }).click();
}

async function askToRollBack(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^Roll back/ })
    .first()
    .click();
}

async function pointAtMark(page: Page): Promise<void> {
  await page.locator('.u-over [data-tone] > :first-child').nth(1).hover();
}

async function chooseLeaf(page: Page): Promise<void> {
  await page.getByRole('link', { name: /goal/ }).first().click();
  await page.locator('.transport-place').waitFor();
}

async function scrollToPublished(page: Page): Promise<void> {
  const heading = page.getByRole('button', { name: /^Qwen2.5 on a GPU/ });
  if ((await heading.getAttribute('aria-expanded')) === 'false') await heading.click();
  await heading.evaluate((element) => element.scrollIntoView());
}

/** Chooses an algorithm with the arrow keys. */
async function chooseBaselines(page: Page): Promise<void> {
  await page.getByRole('radio', { checked: true }).focus();
  await page.keyboard.press('ArrowUp');
}

async function openSections(page: Page): Promise<void> {
  for (const name of [/^Environment/, /^Policy loss/]) await page.getByRole('button', { name }).first().click();
  await page.getByLabel('Mini-batch', { exact: true }).fill('-1');
  await page.getByText('Fix before starting').waitFor();
}

async function openPaperStudy(page: Page): Promise<void> {
  await page.getByText('Studies of the RAGEN paper').click();
  await page.locator('select:has(option[value="table-2"])').selectOption('table-2');
  await page.getByText('128 episodes per iteration, of which').waitFor();
}

async function varySome(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Vary Learning rate in a sweep' }).click();
  await page
    .getByRole('region', { name: 'Sweep' })
    .getByLabel('Learning rate', { exact: true })
    .fill('1e-4, 3e-4, 1e-3');
  await page.getByText(/9 runs/).waitFor();
}

async function scrollToPrompts(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Prompt preview' }).evaluate((heading) => heading.scrollIntoView());
}

async function openImport(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Import…' }).click();
}

/** Opens the queue dialog while another run trains. */
async function askToQueue(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^Start Bandit/ })
    .first()
    .click();
}

async function writeNote(page: Page): Promise<void> {
  await page.locator('.mark-note').click();
  const archived = page.locator('.nav-archived');
  if (await archived.isVisible()) await archived.click();
}

async function choose(page: Page): Promise<void> {
  const boxes = page.getByRole('checkbox', { name: /^Select / });
  for (const place of [2, 3, 4]) await boxes.nth(place).check();
}

async function askToDelete(page: Page): Promise<void> {
  await choose(page);
  await page.getByRole('button', { name: 'Delete…' }).click();
}

async function searchEpisodes(page: Page): Promise<void> {
  await page.getByLabel('Search episode text').fill('go');
  // Matches are marked once the results are new.
  await page.locator('mark').first().waitFor();
}

async function typeInPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('froz');
}

async function askForCheckpoint(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Checkpoint', exact: true }).click();
}

async function rename(page: Page): Promise<void> {
  await page
    .getByLabel(/^More for/)
    .first()
    .click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
}
