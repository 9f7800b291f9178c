import { alertAdvice } from '../../contract/alert-words.ts';
import type { Advice, Alert } from '../../contract/contract.ts';
import { metricTitle } from '../../contract/metric-titles.ts';
import { lossText, rollBackLabel, stateTitles } from '../../contract/trap-words.ts';
import { actionText, advise, print } from '../output.ts';
import { type CommandOptions, withRun } from './with-client.ts';

/** Lists a run's alerts and suggested fixes, or applies one. */
export async function listAlerts(
  named: string,
  { home, json, take }: CommandOptions & { take?: string },
): Promise<void> {
  if (take !== undefined) return applyAdvice(home, named, take);
  const { runId, alerts, trap } = await withRun(
    home,
    named,
    async (client, runId) => ({
      runId,
      alerts: await client.call('alerts.list', { runId }),
      trap: await client.call('echoTrap.state', { runId }),
    }),
    { repeatable: true },
  );
  if (json) return print(JSON.stringify({ alerts, echoTrap: trap }, null, 2));
  if (trap) {
    const since = trap.state === 'unmeasured' ? '' : ` (since iteration ${trap.since})`;
    print(`${stateTitles[trap.state]}${since}. ${trap.summary}`);
    for (const each of trap.why) print(`  ${each}`);
  }
  for (const alert of alerts) print(describeAlert(alert));
  if (alerts.length === 0) print('No alerts.');
  const acting = trap?.advice.filter(({ acts }) => acts) ?? [];
  if (acting.length === 0) return;
  advise(`\nSuggested fixes (apply one with \`starpo alerts ${runId} --take ADVICE\`):`);
  for (const advice of acting) print(describeAdvice(advice, trap!.iteration));
}

async function applyAdvice(home: string | undefined, named: string, adviceId: string): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    print(actionText(await client.call('echoTrap.act', { runId, adviceId })));
  });
}

function describeAlert(alert: Alert) {
  const { iteration, level, severity, state, message, series, value, baseline, action } = alert;
  const number = (measured: number | null) => measured?.toPrecision(3) ?? 'unknown';
  return [
    `\niteration ${iteration}  ${level ?? severity}, ${state}`,
    `  ${message}`,
    ...(alertAdvice(alert) === '' ? [] : [`  ${alertAdvice(alert)}`]),
    ...(series === null ? [] : [`  ${metricTitle(series)} ${number(value)} (baseline ${number(baseline)})`]),
    ...(action === null ? [] : [`  ${actionText(action)}`]),
  ].join('\n');
}

function describeAdvice({ id, title, why, preferred, action }: Advice, iteration: number): string {
  const cost =
    action.kind === 'rollback' && action.checkpoint !== null
      ? ` ${rollBackLabel(action.checkpoint)}: ${lossText(action.checkpoint, iteration)}.`
      : '';
  return `  ${id}${preferred ? ' (recommended)' : ''}: ${title}.${cost} ${why}`;
}
