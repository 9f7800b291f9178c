import type { Alert, RunSummary } from '../../core/contract/contract.ts';
import { metricTitle } from '../../core/contract/metric-titles.ts';
import { knownWord } from '../../core/contract/open-words.ts';
import { stateOfAlert } from '../../core/contract/trap-words.ts';
import type { ChartMark } from '../charts/marks.ts';
import { number } from '../components/format.ts';
import { stateLabel } from '../components/trap-labels.ts';
import { originOf } from './use-parent.ts';

const severityTones = { notice: 'watch', warning: 'warning', critical: 'critical' } as const;

/** Returns the marks of a run's charts: alerts and forks. */
export function chartMarks(
  alerts: readonly Alert[],
  run: Pick<RunSummary, 'parent'>,
  parent: Pick<RunSummary, 'name'> | undefined,
  forks: readonly Pick<RunSummary, 'id' | 'name' | 'parent'>[],
): ChartMark[] {
  const origin = originOf(run.parent);
  return [
    ...alerts.map(alertMark),
    ...(origin
      ? [
          forkMark(
            'parent',
            origin.iteration,
            `Forked from ${parent?.name ?? 'its parent'} at iteration ${origin.iteration}`,
          ),
        ]
      : []),
    ...forks.flatMap(({ id, name, parent }) => {
      const from = originOf(parent);
      return from ? [forkMark(id, from.iteration, `Forked into ${name} at iteration ${from.iteration}`)] : [];
    }),
  ];
}

export function alertMark(alert: Alert): ChartMark {
  const { id, iteration, level, severity, message, series, value, baseline } = alert;
  const { word, tone } = level
    ? stateLabel(stateOfAlert(alert))
    : { word: 'Alert', tone: knownWord(severityTones, severity) ?? 'warning' };
  const evidence =
    series && value !== null
      ? `${metricTitle(series)} ${number(value)}${baseline === null ? '' : `, baseline ${number(baseline)}`}`
      : null;
  return {
    id,
    iteration,
    tone: tone === 'calm' || tone === 'none' ? 'watch' : tone,
    title: `${word} at iteration ${iteration}`,
    // The full message is too long for a chart; the panel shows it.
    text: evidence ?? message,
  };
}

const forkMark = (id: string, iteration: number, title: string): ChartMark => ({
  id,
  iteration,
  tone: 'fork',
  title,
  text: '',
});
