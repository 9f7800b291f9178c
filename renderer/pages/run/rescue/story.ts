import type { Alert, AlertAction, RunSummary } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { panelWords } from '../../../../core/contract/panel-words.ts';
import { isLive } from '../../../../core/contract/run-facts.ts';
import { shortValue } from '../../../../core/contract/run-names.ts';
import { isAlarm, lossText, stateOfAlert } from '../../../../core/contract/trap-words.ts';
import { settingFacts } from '../../../../core/facts/setting-facts.ts';
import { evaluationLabels } from '../../../charts/chart-specs.ts';
import { metricValue } from '../../../charts/metric-sections.ts';
import type { SeriesSource } from '../../../charts/series-source.ts';
import { duration, percent } from '../../../components/format.ts';
import { settingAt } from '../../../components/setting-at.ts';
import { stateLabel } from '../../../components/trap-labels.ts';
import { environmentTitle } from '../../../environments/registry.ts';

/** A run and its metrics. */
export interface Side {
  run: RunSummary;
  series: SeriesSource;
}

/** The rescue of a run: warning, roll-back and result. */
export interface Story {
  /** The warning that the roll-back reacted to, otherwise the last one before it; null if there was none. */
  warning: Alert | null;
  /** Iteration from which the run was rolled back, and the checkpoint. */
  from: number;
  checkpoint: number;
  /** The result in one sentence or two. */
  result: string;
  /** Name and text of each step. */
  steps: [string, string][];
  /** Name, value of the run that was rolled back, and of the run that continues. */
  numbers: [string, string, string][];
  /** A limit of the comparison. */
  note: string;
}

/** Titles of the two runs. */
export const sideTitles = ['Before the roll-back', 'After the roll-back'] as const;

/** Number of iterations over which success is averaged. */
const window = 10;
/** Success this far below the best before the roll-back still counts as recovered. */
const tolerance = 0.1;
const success = 'rollout/success_rate';

/** Returns the story of a roll-back; null if the run was not rolled back. `config`: its run.json. `after`: the run that continues; null if it was deleted. */
export function storyOf(before: Side, config: unknown, alerts: readonly Alert[], after: Side | null): Story | null {
  const action = before.run.lastAction;
  if (action?.kind !== 'rollback' || action.state !== 'done' || action.checkpoint === null) return null;
  const { checkpoint } = action;
  const from = lastIterationBefore(action.changedAt, before);
  const warning = warningOf(action, alerts, from);
  return {
    ...{ warning, from, checkpoint },
    result: resultOf(means(before.series, 0, from), after, checkpoint),
    steps: [
      ...stepsOf({ before, config, action, warning, from, checkpoint }),
      ...(after ? [['Continued as', after.run.name] as [string, string]] : []),
    ],
    numbers: numbersOf(before, from, after, checkpoint, warning?.series ?? null),
    note: noteOf(before.run, from, action),
  };
}

function noteOf({ iteration, endedAt }: RunSummary, from: number, action: AlertAction): string {
  if (iteration > from) return 'The run was resumed after the roll-back. Its results here end at the roll-back.';
  return endedAt !== null && endedAt < action.time
    ? 'The run had ended before the roll-back.'
    : 'The run was stopped at the roll-back, so its success without the roll-back was not measured.';
}

/** Returns the last iteration that the run had completed at a time. The run may have been resumed since. */
function lastIterationBefore(time: number, { run, series }: Side): number {
  const times = series.times?.();
  const index = times ? Array.from(times.values()).findLastIndex((each) => each <= time) : -1;
  return index < 0 ? run.iteration : Math.min(run.iteration, times!.iterations()[index]!);
}

function warningOf(action: AlertAction, alerts: readonly Alert[], from: number): Alert | null {
  const answered = alerts.find(({ id }) => id === action.alert);
  const earlier = alerts
    .filter((alert) => isAlarm(alert.level ?? '') && alert.iteration <= from)
    .sort((a, b) => b.iteration - a.iteration);
  return answered ?? earlier[0] ?? null;
}

interface Means {
  best: number;
  last: number;
}

/** Returns the best and the last mean of success over ten iterations within a range; null without data. */
function means(series: SeriesSource, after: number, upTo = Number.POSITIVE_INFINITY): Means | null {
  const metric = series.get(success);
  if (!metric) return null;
  const iterations = metric.iterations();
  const values = Array.from(metric.values()).filter((_, i) => iterations[i]! > after && iterations[i]! <= upTo);
  if (values.length === 0) return null;
  const mean = (part: readonly number[]) => part.reduce((sum, value) => sum + value, 0) / part.length;
  const size = Math.min(window, values.length);
  const all = values.slice(size - 1).map((_, i) => mean(values.slice(i, i + size)));
  return { best: Math.max(...all), last: all.at(-1)! };
}

function resultOf(before: Means | null, after: Side | null, checkpoint: number): string {
  if (!after) return 'The run that continued was deleted.';
  const reached = means(after.series, checkpoint);
  if (!reached || !before) return `There is no result after iteration ${checkpoint} yet.`;
  const distance = before.best - reached.last;
  const compared =
    percent(reached.last) === percent(before.best)
      ? `equal to the best before it (${percent(before.best)})`
      : distance < 0
        ? `above the best before it (${percent(before.best)})`
        : distance <= tolerance
          ? `within ${100 * tolerance} points of the best before it (${percent(before.best)})`
          : `${Math.round(100 * distance)} points below the best before it (${percent(before.best)})`;
  const when = isLive(after.run.status) ? 'is now' : 'ended at';
  return `Success ${when} ${percent(reached.last)} after the roll-back, ${compared}.`;
}

interface StepFacts {
  before: Side;
  config: unknown;
  action: AlertAction;
  warning: Alert | null;
  from: number;
  checkpoint: number;
}

function stepsOf({ before, config, action, warning, from, checkpoint }: StepFacts): [string, string][] {
  const seconds = secondsBetween(before.series, checkpoint, from);
  const loss = lossText(checkpoint, from);
  const changes = action.changes.map(({ path, value }) => {
    const old = settingAt(config, path);
    return `${settingFacts(path).title} ${old === undefined ? '' : `${shortValue(old)} → `}${shortValue(value)}`;
  });
  const by = { monitor: 'automatically', user: 'manually' }[action.by as 'monitor' | 'user'];
  return [
    warning
      ? ['Warning', `${stateLabel(stateOfAlert(warning)).word} at iteration ${warning.iteration}. ${warning.message}`]
      : ['Warning', 'None.'],
    ['Action', `Rolled back${by === undefined ? '' : ` ${by}`} from iteration ${from} to checkpoint ${checkpoint}.`],
    ['Changed settings', changes.length === 0 ? 'None.' : `${changes.join(', ')}.`],
    [
      'Cost',
      `${loss.charAt(0).toUpperCase()}${loss.slice(1)}${seconds === null || from <= checkpoint ? '' : `, ${duration(seconds)} of training`}.`,
    ],
  ];
}

/** Returns the seconds of the iterations after one, up to another; null if they were not measured. */
function secondsBetween(series: SeriesSource, after: number, upTo: number): number | null {
  const metric = series.get('time/iteration');
  if (!metric || metric.length === 0) return null;
  const counts = metric.counts();
  return metric
    .values()
    .reduce(
      (sum, value, i) =>
        metric.iterations()[i]! > after && metric.iterations()[i]! <= upTo ? sum + value * (counts?.[i] ?? 1) : sum,
      0,
    );
}

function numbersOf(
  before: Side,
  from: number,
  after: Side | null,
  checkpoint: number,
  evidence: string | null,
): Story['numbers'] {
  const sides = [
    { side: before, start: before.run.parent?.iteration ?? 0, end: from },
    { side: after, start: checkpoint, end: after?.run.iteration ?? checkpoint },
  ] as const;
  const row = (name: string, of: (part: { side: Side; start: number; end: number }) => string): Story['numbers'] => {
    const [left, right] = sides.map(({ side, start, end }) => (side ? of({ side, start, end }) : 'deleted'));
    return [[name, left!, right!]];
  };
  const meanOf = (kind: keyof Means) =>
    row(kind === 'best' ? 'Success, best ten iterations' : 'Success, last ten iterations', ({ side, start, end }) =>
      percent(means(side.series, start, end)?.[kind] ?? Number.NaN),
    );
  const labels = evaluationLabels(before.series.names()).map(({ label }) => label);
  return [
    ...row('Iterations', ({ start, end }) => (end > start ? `${start + 1} to ${end}` : 'none')),
    ...meanOf('last'),
    ...meanOf('best'),
    ...labels.flatMap((label) =>
      row(
        [
          'Last evaluation',
          ...(labels.length > 1 ? [environmentTitle(label)] : []),
          panelWords([...before.run.panels, ...(after?.run.panels ?? [])], label),
        ]
          .filter(Boolean)
          .join(', '),
        ({ side, start, end }) => {
          const last = lastIn(side.series, `evaluation/${label}/success_rate`, start, end);
          return last ? `${percent(last.value)} at ${last.iteration}` : '–';
        },
      ),
    ),
    ...(evidence
      ? row(`${metricTitle(evidence)}, latest`, ({ side, start, end }) => {
          const last = lastIn(side.series, evidence, start, end);
          return last ? metricValue(evidence, last.value) : '–';
        })
      : []),
    ...row('Echo Trap', ({ side }) => (side.run.trap ? stateLabel(side.run.trap.state).word : '–')),
  ];
}

function lastIn(series: SeriesSource, name: string, start: number, end: number) {
  const metric = series.get(name);
  if (!metric) return null;
  const iterations = metric.iterations();
  const index = iterations.findLastIndex((iteration) => iteration >= start && iteration <= end);
  return index < 0 ? null : { iteration: iterations[index]!, value: metric.values()[index]! };
}
