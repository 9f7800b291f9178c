import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunSummary } from '../../core/contract/contract.ts';
import { frozenLake } from '../../core/environments/frozen-lake.ts';
import { runTabs } from '../../renderer/base/routes.ts';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { fakeRollout } from '../core/fixtures/fake-rollout.mjs';
import { fakeTrainer, root } from '../core/fixtures/world.ts';
import { Served } from '../renderer/screens/studio.ts';
import { thorough } from '../thorough.ts';
import { violationsInBothThemes } from './axe.ts';
import { collectComplaints } from './studio.ts';
import { Wire } from './wire.ts';

/** Checks every page in every state: axe in both themes, narrow and wide windows, 200 % zoom, and the keyboard. Trains nothing. */

const narrow = { width: 1024, height: 700 };
/** 1280 x 800 at 200 % zoom. */
const zoomed = { width: 640, height: 400 };
const usual = { zoomed, narrow };
const all = { ...(thorough && { wide: { width: 2560, height: 1440 } }), ...usual };
type Checks = { sizes?: typeof usual; parts?: string };

let served: Served;
let browser: Browser;
let page: Page;
let wire: Wire;
let complaints: string[];

beforeAll(async () => {
  served = await Served.start(fakeTrainer, join(root, 'resources/sample.starpo.zip'));
  browser = await chromium.launch({ executablePath: chromiumPath() });
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: narrow, reducedMotion: 'reduce' });
  page.setDefaultTimeout(60_000);
  complaints = collectComplaints(page);
  await page.addInitScript(() =>
    addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`)),
  );
  wire = await Wire.tap(page);
});
afterEach(() => page.close());

const frames = () =>
  page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))));

/** Waits until all requests are answered or have failed, and the page is drawn. */
async function drawn(): Promise<void> {
  await frames();
  // Drawing may cause more requests.
  for (let rounds = 0; rounds < 3 && wire.mode !== 'held'; rounds++) {
    await wire.settled();
    await frames();
  }
}

const open = (place: string) => page.goto(`${served.address}${place}`);

async function go(place: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, `#${place}`);
  await drawn();
}

/**
 * Returns what doesn't fit the window once the page is drawn, or null: the element that makes the page wider or the window's document taller
 * than the window, that escapes its scrolling container, or, with `tables`, a table whose last columns lie beyond its panel.
 */
const overflow = ({ tables = false } = {}) =>
  page.evaluate(async (withTables) => {
    // Elements that measure their width are laid out after two frames.
    await new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)));
    const { scrollHeight } = document.documentElement;
    if (scrollHeight !== innerHeight) return `document ${scrollHeight} px tall in a window of ${innerHeight} px`;
    for (const element of document.querySelectorAll<HTMLElement>('#root .visually-hidden')) {
      for (let at = element.parentElement; element.offsetParent && at !== element.offsetParent; at = at!.parentElement)
        if (/auto|scroll/.test(getComputedStyle(at!).overflow))
          return `escapes ${at!.className}: ${element.outerHTML.slice(0, 160)}`;
    }
    const main = document.querySelector('#main') ?? document.documentElement;
    const beyond = Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth);
    if (beyond > 0) {
      const right = (element: Element) => element.getBoundingClientRect().right;
      const widest = [...main.querySelectorAll('*')].sort((a, b) => right(b) - right(a))[0];
      return `${beyond} px wider than the window: ${widest?.outerHTML.slice(0, 160)}`;
    }
    const panels = withTables ? [...document.querySelectorAll('.table-panel')] : [];
    const cut = panels.find((panel) => panel.scrollWidth > panel.clientWidth);
    return cut ? `table cut: ${cut.textContent?.slice(0, 80)}` : null;
  }, tables);

/** Returns the page's problems, each prefixed with `name`. `parts` is a selector of what axe scans instead of the whole page. */
async function faults(name: string, { sizes = usual, parts }: Checks = {}): Promise<string[]> {
  const found = (await violationsInBothThemes(page, parts)).map((violation) => `${name}, ${violation}`);
  for (const [words, size] of Object.entries(sizes)) {
    await page.setViewportSize(size);
    const beyond = await overflow({ tables: words === 'narrow' });
    if (beyond) found.push(`${name}, ${words}: ${beyond}`);
  }
  return [...found, ...complaints.splice(0).map((complaint) => `${name}: ${complaint}`)];
}

/** Visits all pages and returns their problems. */
async function walk(places: Readonly<Record<string, string>>, checks?: Checks): Promise<string[]> {
  const found: string[] = [];
  for (const [name, place] of Object.entries(places)) {
    await go(place);
    found.push(...(await faults(name, checks)));
  }
  return found;
}

const common = {
  start: '/start',
  new: '/new/starter-frozen-lake',
  'new sweep': '/studies/new/starter-frozen-lake',
  history: '/history',
  episodes: '/history/episodes',
  trash: '/history/trash',
  studies: '/studies',
  compare: '/compare',
  models: '/models',
  environments: '/environments',
  play: '/play',
  queue: '/queue',
  system: '/system',
  settings: '/settings',
};

test('without runs, every page passes axe and fits its window', async () => {
  await open('/start');
  const run = '/run/sample-run';
  const sample = {
    sample: run,
    'replay of the sample': `${run}/replay`,
    'export of the sample': `${run}/export`,
    mixed: '/new/starter-mixed',
  };
  const unknown = { unknown: '/nothing', 'unknown run': '/run/nothing' };
  expect(await walk({ ...common, ...sample, ...unknown })).toEqual([]);
});

describe('with runs', () => {
  let study: string;
  let runPages: Record<string, string>;

  beforeAll(async () => {
    const lake = await served.make('lake', 'starter-frozen-lake', { iterations: 20, 'evaluation.every': 5 });
    await served.train(lake, {}, ({ status }) => status === 'completed');
    // The untrained policy fails on every level, so every level solved later was learned.
    const { folder } = await served.call('runs.get', { runId: lake });
    fakeRollout(folder, {}, 0, 'frozen-lake', { ...frozenLake.preset, success: 0 }, 64, 1);
    const failed = await served.make('failed', 'starter-bandit', { iterations: 20 });
    await served.train(failed, { FAIL: 12 }, ({ status }) => status === 'failed');
    await served.make('created', 'starter-sokoban');
    await served.call('queue.add', { runId: await served.make('queued', 'starter-bandit') });
    served.raise(lake, 'The entropy fell by half within ten iterations.');
    await served.call('runs.delete', { runIds: [await served.make('deleted', 'starter-bandit')] });
    study = await served.study();
    const run = `/run/${lake}`;
    runPages = {
      run,
      export: `${run}/export`,
      replay: `${run}/replay`,
      group: `${run}/group/1/1`,
      'then and now': `${run}/then-and-now`,
      thoughts: `${run}/thoughts`,
      'play a run': `/play/${lake}`,
      fork: `/new/run/${lake}`,
      'compare two': `/compare/${lake},${failed}`,
      study: `/study/${study}`,
    };
  });

  test('every page passes axe and fits its window', async () => {
    await open('/start');
    const other = { created: '/run/created', failed: '/run/failed', queued: '/run/queued' };
    served.putModel('A-model-with-a-long-name-0.5B-Instruct');
    for (const name of Object.keys(other)) other[name as keyof typeof other] = `/run/${served.runs[name]}`;
    const tabs = Object.fromEntries(runTabs.slice(1).map((tab) => [tab, `${runPages.run}/${tab}`]));
    expect(await walk({ ...common, ...runPages, ...tabs, ...other }, { sizes: all })).toEqual([]);
  });

  test('with 40 or 400 runs, the window never scrolls as a whole, and the run list is one tab stop', async () => {
    for (const count of [40, 400]) {
      wire.rewrite('runs.list', (runs: RunSummary[]) =>
        Array.from({ length: count }, (_, index) => ({ ...runs[index % runs.length]!, id: `run-${index}` })),
      );
      await open('/history');
      await page.locator('.run-list li').nth(39).waitFor();
      const runs = page.locator('.run-list a');
      expect(await page.locator('.run-list a[tabindex="0"]').count()).toBe(1);
      await runs.first().focus();
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => runs.nth(1).evaluate((link) => link === document.activeElement)).toBe(true);
      expect(await runs.nth(1).getAttribute('tabindex')).toBe('0');
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement!.closest('.run-list'))).toBeNull();
      await runs.last().focus();
      await page.evaluate(() => document.querySelector('#main')!.lastElementChild!.scrollIntoView({ block: 'end' }));
      expect(await page.evaluate(() => [document.documentElement.scrollHeight, scrollY])).toEqual([narrow.height, 0]);
      expect(await overflow()).toBeNull();
      await page.goto('about:blank');
    }
  });

  test('while they load, pages pass axe and fit their window, and some name what they load', async () => {
    wire.mode = 'held';
    await open('/start');
    expect(await walk({ ...common, ...runPages }, { parts: '#main' })).toEqual([]);
    for (const place of ['/start', '/queue', '/studies', '/models', '/system', '/new/starter-frozen-lake']) {
      await go(place);
      expect(await page.locator('#main').textContent()).toMatch(/(Loading|Reading) [^.]*…/);
    }
  });

  test('if every request fails, pages pass axe and fit their window, and some show the error', async () => {
    await open('/start');
    await drawn();
    wire.mode = 'refused';
    expect(await walk({ ...common, ...runPages }, { parts: '#main' })).toEqual([]);
    for (const [place, text] of [
      ['/environments', 'The server could not answer.'],
      ['/new/starter-frozen-lake', 'The server could not answer.'],
      ['/models', "Can't read the models."],
      ['/studies', "Can't read the sweeps"],
      [runPages.study!, "Can't read the sweep"],
      ['/history/trash', "Can't read the trash"],
    ] as const) {
      await go(place);
      await page.locator('#main').getByText(text, { exact: true }).first().waitFor();
    }
  });

  test('menus, dialogs and the palette pass axe and fit the window', async () => {
    await open('/start');
    const { run, replay } = runPages as { run: string; replay: string };
    const button = (name: string | RegExp) => page.getByRole('button', { name }).first();
    const opened: [name: string, place: string, openIt: () => Promise<unknown>, element: string][] = [
      ['palette', '/start', () => page.keyboard.press('Control+k'), '[role="dialog"]'],
      ['keys', '/history', () => page.keyboard.press('Shift+?'), '[role="dialog"]'],
      [
        'rows selected',
        '/history',
        () =>
          page
            .getByRole('checkbox', { name: /^Select / })
            .first()
            .check(),
        'text=Delete…',
      ],
      ['import a run', '/history', () => button('Import runs…').click(), '[role="dialog"]'],
      ['free space', '/history', () => button('Free disk space…').click(), '[role="dialog"]'],
      [
        "a row's menu",
        '/history',
        () =>
          page
            .getByLabel(/^More for/)
            .first()
            .click(),
        '[role="menu"]',
      ],
      [
        'import settings',
        '/new/starter-frozen-lake',
        () => button('Import…').click(),
        '#main textarea, [role="dialog"]',
      ],
      [
        "a run's menu",
        run,
        () =>
          page
            .getByLabel(/^More for/)
            .first()
            .click(),
        '[role="menu"]',
      ],
      ['fork', `${run}/checkpoints`, () => button(/^Fork/).click(), '[role="dialog"]'],
      ['evaluate', `${run}/checkpoints`, () => button('Evaluate…').click(), '[role="dialog"] form'],
      ['train more', run, () => button('Train more…').click(), '[role="dialog"]'],
      ["a chart's menu", `${run}/charts`, () => button('More for Reward').click(), '[role="menu"]'],
      ["charts' options", `${run}/charts`, () => button('Chart options').click(), '[role="menu"]'],
      ['a chart enlarged', `${run}/charts`, () => button('Enlarge Reward').click(), '[role="dialog"] .u-over'],
      ['columns of a table', '/history', () => button('Columns').click(), '[role="dialog"]'],
      ['export in one file', run, () => button('Export…').click(), '[role="dialog"], [role="menu"]'],
      ['save an episode', replay, () => button(/^Save/).click(), '[role="menu"]'],
    ];
    const whole = ['palette', 'rows selected', "a row's menu", 'import a run', "charts' options"];
    const found: string[] = [];
    for (const [name, place, openIt, element] of opened) {
      await go(place);
      await openIt();
      await page.locator(element).first().waitFor();
      await drawn();
      // The pages below are scanned above. What a dialog and a menu do to them is the same for each.
      const parts = thorough || whole.includes(name) ? undefined : '[role="dialog"], [role="menu"]';
      found.push(...(await faults(name, { parts })));
      if (name === 'keys')
        expect(await page.getByRole('dialog').evaluate((dialog) => [dialog.scrollTop, dialog.scrollWidth])).toEqual([
          ...[0, await page.getByRole('dialog').evaluate((dialog) => dialog.clientWidth)],
        ]);
      await page.keyboard.press('Escape');
    }
    expect(found).toEqual([]);
  });

  test('the keyboard reaches the main actions', async () => {
    await open('/start');
    await drawn();
    const { run, replay, export: exports, thoughts, fork } = runPages as Record<string, string>;
    const within = (selector: string) => page.locator(`#main ${selector}`).first();
    const button = (name: string | RegExp) => page.locator('#main').getByRole('button', { name }).first();
    const actions: [place: string, action: Locator][] = [
      ['/start', button(/^Start FrozenLake/)],
      ['/new/starter-frozen-lake', button(/^Start/)],
      ['/history', within('input[type="search"]')],
      ['/history/episodes', within('input[type="search"]')],
      ['/studies', within('a[href*="/studies/new"], button')],
      ['/compare', within('[role="table"] input[type="checkbox"]')],
      ['/models', page.getByLabel('Hugging Face repo')],
      ['/play', within('a[href^="#/play/"]')],
      [run!, within('a[href$="/replay"]')],
      [`/run/${served.runs.created}`, button('Start')],
      [`/run/${served.runs.queued}`, button('Start now')],
      [`/run/${served.runs.failed}`, button('Resume')],
      [exports!, button(/^(Download|Save) /)],
      [replay!, button(/^(Play|Pause)/)],
      [replay!, button('Save')],
      [replay!, button('Groups')],
      [replay!, page.getByLabel('Color tokens by')],
      [runPages['then and now']!, button('Play (space)')],
      [runPages['then and now']!, button('Next level')],
      [runPages['then and now']!, button('Save GIF')],
      [thoughts!, within('a[href*="/replay"], a[href*="thought"]')],
      [thoughts!, button('Play iterations')],
      [runPages['play a run']!, page.locator('#main').getByRole('button').first()],
      [fork!, button(/^Start/)],
      [runPages['compare two']!, within('[role="table"] input[type="checkbox"]')],
      [`/study/${study}`, button('Resume')],
      [`/study/${study}`, within('a[href^="#/compare/"]')],
      [`/study/${study}`, button(/^(Download|Save) /)],
      ['/history/trash', button(/^Restore /)],
      ['/queue', page.locator('#main').getByRole('button', { name: /^Remove .* from the queue$/ })],
      ['/settings', page.getByLabel('Single-key shortcuts')],
      ['/system', button('Check again')],
      ['/system', button('Create diagnostics file')],
    ];
    const unreached: string[] = [];
    for (const [place, action] of actions) {
      await go(place);
      await action.waitFor();
      if (!(await reached(action))) unreached.push(place);
    }
    expect(unreached).toEqual([]);
  });

  test('actions work by keyboard alone and return the focus', async () => {
    await open('/start');
    await drawn();
    const { replay } = runPages as Record<string, string>;
    const button = (name: string | RegExp) => page.locator('#main').getByRole('button', { name }).first();
    const isFocused = (element: Locator) => element.evaluate((each) => each === document.activeElement);
    const saved = (keys: readonly string[]) =>
      Promise.all([
        page.waitForEvent('download').then((download) => download.suggestedFilename()),
        (async () => {
          for (const key of keys) await page.keyboard.press(key);
        })(),
      ]).then(([name]) => name);

    await go(replay!);
    await button('Save').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Animated GIF' }).waitFor();
    expect(await saved(['ArrowDown', 'ArrowDown', 'Enter'])).toMatch(/\.json$/);
    await expect.poll(() => isFocused(button('Save'))).toBe(true);
    await button('Groups').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Groups' }).waitFor();

    await go(runPages['then and now']!);
    await button('Save GIF').focus();
    expect(await saved(['Enter'])).toMatch(/level-\d+\.gif$/);

    await go('/system');
    await button('Create diagnostics file').focus();
    expect(await saved(['Enter'])).toBe('starpo-diagnostics.zip');

    await served.call('studies.cancel', { studyId: study });
    await go(`/study/${study}`);
    await button('Delete…').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Delete sweep?' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => isFocused(button('Delete…'))).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('a lost connection is shown, and the page reconnects', async () => {
    await open('/start');
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.evaluate(() => {
      // No new connection opens before this.
      Object.assign(globalThis, { kept: WebSocket, WebSocket: undefined });
    });
    await wire.cut();
    await page.getByText('Connection lost.').waitFor();
    const found = await faults('lost');
    await page.evaluate(() => {
      Object.assign(globalThis, { WebSocket: (globalThis as unknown as { kept: unknown }).kept });
    });
    await page.getByText('Connection lost.').waitFor({ state: 'detached' });
    expect(found).toEqual([]);
  });

  test("a browser that isn't signed in asks for the address", async () => {
    await page.goto(`${new URL(served.address).origin}/#/start`);
    await page.getByText(/This tab isn't signed in/).waitFor();
    // Browsers log the refused request.
    expect((await faults('signed out')).filter((fault) => !fault.includes('401'))).toEqual([]);
  });
});

/** Returns whether the Tab key reaches the element from the top of the page. */
async function reached(action: Locator): Promise<boolean> {
  await page.locator('.skip-link').focus();
  await page.keyboard.press('Enter');
  await action.evaluate((element) => {
    const scope = globalThis as { reached?: boolean };
    scope.reached = element === document.activeElement;
    element.addEventListener('focus', () => {
      scope.reached = true;
    });
  });
  // Asking after each press would take most of the time.
  for (let tabs = 0; tabs < 60; tabs += 10) {
    for (let press = 0; press < 10; press++) await page.keyboard.press('Tab');
    if (await page.evaluate(() => (globalThis as { reached?: boolean }).reached)) return true;
  }
  return false;
}
