import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TrapLevel } from '../../core/contract/contract.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import { useNotifications } from '../../renderer/notifications/notifications.ts';
import * as journal from '../core/fixtures/journal.ts';
import { holdAt, play, preset, small, untilAlerts } from '../core/fixtures/played.ts';
import { raiseAlert } from '../core/fixtures/raise-alert.ts';
import { type Outcome, seriesOf } from '../core/fixtures/trap-series.ts';
import { untilRun } from '../core/fixtures/world.ts';
import { Page } from './page.tsx';

let page: Page;
beforeEach(async () => {
  page = await Page.start();
});
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Trains a run with recorded metrics up to an iteration or alert, where the trainer waits for a command, and then up to `next`. */
async function trainWithMetrics(outcome: Outcome, at: number | TrapLevel, next?: TrapLevel): Promise<string> {
  play(page.world, outcome);
  const { core } = page;
  const runId = await core.runs.create({ preset, set: small });
  // Detectors depend on the configuration: with fewer episodes they take longer.
  const monitor = new Monitor(await core.runs.config(runId));
  monitor.addAll(seriesOf(outcome, { iterations: small.iterations }));
  const iterationOf = (level: TrapLevel) => monitor.alerts.find((alert) => alert.level === level)!.iteration;
  const until = typeof at === 'number' ? at : iterationOf(at);
  vi.stubEnv('FAKE_TRAINER_HOLD', next ? `${until},${iterationOf(next)}` : String(until));
  await core.runs.start(runId);
  await untilRun(core, runId, ({ iteration }) => iteration === until);
  return runId;
}

const head = () => page.find<HTMLButtonElement>('[data-echo-trap] button[aria-expanded]');
const indicators = () => page.all('[aria-label="Echo Trap indicators"] li').map(({ textContent }) => textContent);
const button = (label: RegExp) => () =>
  page.all('button').find((each) => label.test(each.getAttribute('aria-label') ?? each.textContent ?? ''));

test('a healthy run shows one line, which expands', async () => {
  page.open(`#/run/${await trainWithMetrics('healthy', 60)}`);
  const line = await page.shown(head);
  expect(line.textContent).toMatch(/Echo Trap ?Healthy ?since the start/);
  expect(page.find('[data-echo-trap]')!.textContent).toContain('No evidence of collapse.');
  expect(line.getAttribute('aria-expanded')).toBe('false');
  expect(indicators()).toEqual([]);
  line.click();
  await page.shown(() => indicators().length === 6);
  for (const indicator of indicators()) expect(indicator).toMatch(/OK.*(usually|best|lowest) \d/);
  expect(page.find('figure[aria-label="Regime map"] figcaption')!.textContent).toMatch(
    /^Healthy.*The position alone is not evidence of collapse.*Iteration \d+: entropy \d+ %/,
  );
  expect(page.find('[data-echo-trap]')!.textContent).toMatch(/Thresholds calibrated on .*FrozenLake/);
  expect(page.find('[data-echo-trap]')!.textContent).toMatch(
    /Risk 0[.\d]*\. (Under 5|About \d+) % of the starter policy's runs at this risk collapse within 40 iterations\. A warning starts at 1/,
  );
  line.click();
  await page.shown(() => indicators().length === 0);
});

test('a collapsing run shows a verdict on every tab, evidence and marks on every chart', async () => {
  const runId = await trainWithMetrics('template', 'collapsing');
  page.open(`#/run/${runId}/log`);
  await page.click(page.withText('header [role="status"] a', 'Echo Trap: collapsing'));
  await page.shown(() => location.hash === `#/run/${runId}`);
  const line = await page.shown(head);
  await page.shown(() => /Collapsing.*\d alerts/.test(line.textContent!));
  const panel = () => page.find('[data-echo-trap]')!.textContent!;
  // One verdict, two reasons with current and usual values, and one button with its cost.
  expect(panel()).toMatch(/Collapse in progress\..*\((usually|best|lowest) \d.*\((usually|best|lowest) \d/);
  expect(panel()).toMatch(/Roll back to iteration \d+…Loses \d+ iterations.*; learning rate \d/);
  expect(line.textContent).not.toMatch(/\w+\/\w+_/);
  expect(line.getAttribute('aria-expanded')).toBe('false');
  line.click();
  await page.shown(() => indicators().length === 6);
  const active = page.all('[aria-label="Echo Trap indicators"] li[data-state="on"]');
  expect(active.length).toBeGreaterThanOrEqual(3);
  for (const { textContent } of active) expect(textContent).toMatch(/(usually|best|lowest) \d.*since iteration \d/);
  const alerts = page.core.annotations.alerts(runId).filter(({ state }) => state === 'raised');
  expect(alerts.length).toBeGreaterThan(0);
  const items = () => page.all('ul[aria-label="Alerts"] > li');
  await page.shown(() => items().length === alerts.length);
  expect(page.find('[data-echo-trap]')!.textContent).not.toMatch(/(rollout|actor)\//);
  for (const { iteration } of alerts) {
    for (const chart of page.all('[data-chart] > p.visually-hidden'))
      expect(chart.textContent).toMatch(new RegExp(`Marks: .*at iteration ${iteration}`));
    expect(page.all(`[data-chart] [data-tooltip*="at iteration ${iteration}"]`)).toHaveLength(
      page.all('[data-chart]:not([data-empty])').length,
    );
  }
  await page.click(button(/^Acknowledge/));
  await page.shown(() => items().length === alerts.length - 1);
  await page.shown(page.withText('ul[aria-label="Answered alerts"] li', 'acknowledged'));
  await page.click(button(/^Snooze/));
  await page.shown(() => page.all('ul[aria-label="Answered alerts"] > li').length === 2);
  const states = page.core.annotations.alerts(runId).map(({ state }) => state);
  expect(states.sort()).toEqual([
    'acknowledged',
    ...Array.from({ length: alerts.length - 2 }, () => 'raised'),
    'snoozed',
  ]);
});

test('a run that collapsed shows what it lost, and a roll-back as the next step', async () => {
  const runId = await trainWithMetrics('template', 30);
  page.open(`#/run/${runId}`);
  await page.shown(head);
  await page.core.runs.command(runId, 'checkpoint');
  await page.shown(page.withText('.status-badge', 'Collapsed'));
  const { peak, last, warnedAt } = page.core.runs.get(runId).collapse!;
  const share = (rate: number) => `${(rate * 100).toFixed(1)} %`;
  await page.shown(
    page.withText(
      'section',
      `Collapsed: ${share(peak.success)} at iteration ${peak.iteration} → ${share(last.success)} at ${last.iteration}.Warned at ${warnedAt}.`,
    ),
  );
  await page.shown(
    () =>
      page.all('button').filter((each) => /^Roll back to iteration \d+…/.test(each.getAttribute('aria-label') ?? ''))
        .length === 1,
  );
  expect(page.find('.run-link')!.textContent).toContain('Collapsed');
});

test('a roll-back states its cost, starts a fork with its own name, and is not offered again', async () => {
  writeFileSync(join(page.world.folder, 'rescued.json'), JSON.stringify(seriesOf('healthy')));
  vi.stubEnv('FAKE_TRAINER_FORK_SERIES', join(page.world.folder, 'rescued.json'));
  const runId = await trainWithMetrics('template', 'collapsing');
  const { core } = page;
  const parent = core.runs.get(runId);
  page.open(`#/run/${runId}`);
  const ask = button(/^Roll back to iteration \d+…: /);
  const dialog = () => document.querySelector('[role="dialog"]');
  await page.click(ask);
  await page.shown(() =>
    dialog()?.textContent?.match(/Loses\d+ iterations \(\d+ to 167\).*ChangesLearning rate .*→ .*Time(?:about )?\d/),
  );
  const name = dialog()!.querySelector('input')!;
  expect(name.value).toMatch(new RegExp(`^${parent.name}, rolled back to \\d+, LR `));
  page.write(name, parent.name);
  await page.shown(() => dialog()!.textContent!.includes('Another run has this name.'));
  page.write(name, 'rescued');
  await page.click(() =>
    [...dialog()!.querySelectorAll('button')].find(({ textContent }) => textContent === 'Roll back'),
  );
  const fork = await page.shown(() => core.runs.list().find((run) => run.parent?.run === runId));
  await page.shown(() => location.hash === `#/run/${fork.id}`);
  expect(core.runs.get(fork.id).name).toBe('rescued');
  const at = fork.parent!.iteration;
  const { lastHealthy } = (await core.supervisor.trap(runId))!;
  expect(at).toBeLessThanOrEqual(lastHealthy!);
  await page.shown(page.withText('ul[aria-label="Forks"] li', `Forked from ${parent.name} at iteration ${at}`));
  location.hash = `#/run/${fork.id}/charts`;
  await page.shown(page.withText('[data-chart] > p', /Parent: .* at iteration \d+.*Marks: .*Forked from/));
  await page.click(page.withText('button', 'Show parent run'));
  await page.shown(() => !page.withText('[data-chart] > p', 'Parent: ')());
  await page.click(() => page.find(`ul[aria-label="Forks"] a[href="#/run/${runId}"]`));
  await page.shown(page.withText('p', /Continued in rescued\./));
  await page.shown(page.withText('.run-facts', 'Stopped, and rolled back in another run.'));
  expect(ask()).toBeUndefined();
  await page.click(head);
  await page.shown(page.withText('[data-echo-trap]', /Manual action.*Go to rescued/));
  expect(core.runs.get(runId).status).toBe('stopped');
});

test('the panel shows automatic actions', async () => {
  // The trainer waits at the alarm, so that the run can't complete before the page shows it.
  holdAt(play(page.world, 'template').alarms[0]!);
  const { core } = page;
  core.alertActions.work();
  const runId = await core.runs.create({ preset, set: { ...small, automatic_action: 'pause' } });
  await core.runs.start(runId);
  await untilRun(core, runId, ({ status }) => status === 'paused');
  page.open(`#/run/${runId}`);
  await page.click(head);
  await page.shown(page.withText('[data-echo-trap]', /Automatic action:\s*Paused\./));
  await page.shown(() => !button(/^Pause: /)() && button(/^Stop: /)());
});

test('without entropy and reasoning metrics, the regime map lists what it needs', async () => {
  page.world.run('plain', [
    journal.started(0),
    ...Array.from({ length: 30 }, (_, index) => journal.iteration(index + 1, index + 1, 0.4)),
  ]);
  await page.core.supervisor.add('plain');
  page.open('#/run/plain');
  await page.click(head);
  await page.shown(page.withText('[aria-label="Regime map"]', /No data.*needs entropy and reasoning metrics/));
  for (const indicator of ['Reward std (in-group)', 'Entropy', 'Template reasoning'])
    expect(indicators().find((text) => text?.startsWith(indicator))).toMatch(/no data.*not measured/);
});

describe('a notification', () => {
  const shown: { title: string; body: string; onclick: (() => void) | null; close: () => void }[] = [];
  const requestPermission = vi.fn();
  beforeEach(() => {
    shown.length = 0;
    requestPermission.mockReset();
    class Shown {
      static permission = 'default';
      static requestPermission = requestPermission.mockImplementation(async () => {
        Shown.permission = 'granted';
      });
      onclick = null;
      close = () => {};
      constructor(title: string, { body }: { body: string }) {
        shown.push(Object.assign(this, { title, body }));
      }
    }
    vi.stubGlobal('Notification', Shown);
    vi.spyOn(document, 'hasFocus').mockReturnValue(false);
  });

  test('appears on an alarm if enabled and the window is in the background, and links to the run', async () => {
    const runId = await trainWithMetrics('template', 30, 'warning');
    page.open(`#/run/${runId}`);
    await page.click(head);
    await page.shown(button(/Notify me/));
    useNotifications.setState({ permission: 'blocked' });
    await page.shown(() => !button(/Notify me/)());
    expect(page.host.textContent).not.toContain('Notifications are blocked');
    useNotifications.setState({ permission: 'off' });
    await page.shown(button(/Notify me/));
    expect(requestPermission).not.toHaveBeenCalled();
    await page.click(button(/Notify me/));
    await page.shown(() => button(/Notify me/)()?.getAttribute('aria-pressed') === 'true');
    expect(requestPermission).toHaveBeenCalledOnce();
    location.hash = '#/start';
    await page.core.runs.command(runId, 'checkpoint');
    await page.shown(() => shown.length > 0);
    expect(shown[0]!.title).toMatch(/^Echo Trap: /);
    expect(shown[0]!.body).toMatch(/^FrozenLake \w+, iteration \d+\. /);
    shown[0]!.onclick!();
    await page.shown(() => location.hash === `#/run/${runId}`);
  });

  test('does not appear if the page has focus or notifications are off', async () => {
    const runId = await trainWithMetrics('template', 30, 'warning');
    page.open(`#/run/${runId}`);
    await page.click(head);
    await page.core.runs.command(runId, 'checkpoint');
    await untilAlerts(page.core, runId, (all) => all.some(({ level }) => level === 'warning'));
    await page.shown(page.withText('ul[aria-label="Alerts"] > li', 'Collapse is near'));
    expect(shown).toEqual([]);
  });

  test('appears for every live run and for no run that has ended', async () => {
    localStorage.setItem('starpo-notifications', 'on');
    Object.assign(Notification, { permission: 'granted' });
    page.open('#/start');
    const first = await trainWithMetrics('template', 30, 'warning');
    const second = await trainWithMetrics('template', 30, 'warning');
    await page.shown(() => page.all('.run-link').length === 2);
    for (const runId of [first, second]) await page.core.runs.command(runId, 'checkpoint');
    await page.shown(() => shown.length === 2);
    const [alert, same] = [first, second].map((runId) => page.core.annotations.alerts(runId).at(-1)!);
    expect(alert!.id).toBe(same!.id);
    for (const runId of [first, second]) await page.core.runs.command(runId, 'stop');
    await page.shown(() => page.all('.run-link').every((link) => /Stopped/.test(link.textContent!)));
    const { severity, iteration, message, level } = alert!;
    await raiseAlert(page.core, first, { kind: 'found_late', severity, iteration, message, level });
    location.hash = `#/run/${first}`;
    const count = page.core.annotations.alerts(first).length;
    expect(count).toBeGreaterThan(1);
    await page.click(head);
    await page.shown(() => page.all('ul[aria-label="Alerts"] > li').length === count);
    expect(shown).toHaveLength(2);
  });

  test("is sent by the desktop app, which receives the user's choice", async () => {
    const chooseNotifications = vi.fn();
    vi.stubGlobal('starpo', { chooseNotifications });
    const runId = await trainWithMetrics('template', 30, 'warning');
    page.open(`#/run/${runId}`);
    await page.click(head);
    await page.click(button(/Notify me/));
    await page.click(button(/Notify me/));
    expect(chooseNotifications.mock.calls).toEqual([['on'], ['off'], ['on']]);
    await page.core.runs.command(runId, 'checkpoint');
    await untilAlerts(page.core, runId, (all) => all.some(({ level }) => level === 'warning'));
    await page.shown(page.withText('ul[aria-label="Alerts"] > li', 'Collapse is near'));
    expect(shown).toEqual([]);
  });
});
