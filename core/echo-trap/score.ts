import type { LabeledRun } from './labeled-runs.ts';
import { median } from './track.ts';

/** Scores alarms on labeled runs, as defined in docs/collapse-rule.md. */

/** An alarm is a hit up to this many iterations before the onset. Earlier alarms are false, later ones too late. */
const longestLead = 100;
/** An alarm up to this many iterations after the onset is a miss, but counts as prompt. */
const promptUntil = 5;
/** Runs with an earlier onset collapsed in their first updates and cannot be predicted. They are counted separately. */
export const earliestOnset = 10;

/** A run with a method's alarms. */
export interface EvaluatedRun {
  run: Pick<LabeledRun, 'collapsed' | 'kind'>;
  /** First iteration (1, or the start of a fork) and last iteration. */
  first: number;
  last: number;
  alarms: readonly number[];
}

export interface Score {
  runs: number;
  /** Without early collapses, like all fields below except `lost_at_once` and `recall_with_lost_at_once`. */
  collapsed: number;
  lost_at_once: number;
  hits: number;
  /** Fraction of collapsed runs with an alarm in time, and its 95 % Wilson interval; null without collapsed runs. */
  recall: number | null;
  recall_low: number | null;
  recall_high: number | null;
  /** Number and fraction of collapsed runs with an alarm in time or up to {@link promptUntil} iterations after the onset. */
  prompt_hits: number;
  prompt_recall: number | null;
  /** Recall over all collapsed runs; early collapses count as missed. */
  recall_with_lost_at_once: number | null;
  /** Fraction of runs with a hit among runs with a hit or a false alarm. */
  precision: number | null;
  precision_low: number | null;
  precision_high: number | null;
  /** Iterations of runs that did not collapse, and of collapsed runs up to {@link longestLead} before the onset. Declining runs are excluded. */
  healthy_iterations: number;
  false_alarms: number;
  false_alarms_per_1000: number | null;
  false_alarms_per_1000_low: number | null;
  false_alarms_per_1000_high: number | null;
  /** False alarms per 1000 iterations, counting declining runs as healthy. */
  false_alarms_per_1000_with_declining: number | null;
  /** Iterations from a run's first hit to its onset. */
  median_lead: number | null;
  worst_lead: number | null;
  /** Lead as a fraction of the onset, for short runs. */
  median_lead_share: number | null;
  /** Number of runs with an alarm and of all runs, by label. */
  alarmed: Record<string, { alarmed: number; runs: number }>;
}

/** Returns the 95 % Wilson interval of a fraction. */
export function wilson(hits: number, trials: number): { low: number; high: number } {
  if (trials === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = hits / trials;
  const center = share + (z * z) / (2 * trials);
  const halfWidth = z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  const scale = 1 + (z * z) / trials;
  return { low: Math.max(0, (center - halfWidth) / scale), high: Math.min(1, (center + halfWidth) / scale) };
}

/** Returns whether alarms are neither hits nor false: declining runs lost between a fifth and half of their success. */
const unclear = ({ kind }: EvaluatedRun['run']) => kind === 'declining';

export function scoreOf(all: readonly EvaluatedRun[]): Score {
  const scored = all.filter(({ run, first }) => run.collapsed === null || run.collapsed - first + 1 >= earliestOnset);
  const collapsed = scored.filter(({ run }) => run.collapsed !== null);
  const leads = collapsed.flatMap(({ run, first, alarms }) => {
    const lead = Math.max(...alarms.map((alarm) => leadOf(alarm, run.collapsed!)));
    return lead >= 0 ? { lead, share: lead / Math.max(1, run.collapsed! - first + 1) } : [];
  });
  const isPrompt = ({ run, alarms }: EvaluatedRun) =>
    alarms.some((alarm) => alarm >= run.collapsed! - longestLead && alarm <= run.collapsed! + promptUntil);
  const promptHits = collapsed.filter(isPrompt).length;
  const clear = scored.filter(({ run }) => !unclear(run));
  const healthy = sum(clear.map(healthyIterations));
  const falseAlarmCount = sum(clear.map(falseAlarms));
  const withFalseAlarm = clear.filter((each) => falseAlarms(each) > 0).length;
  const alarmedRuns = leads.length + withFalseAlarm;
  const earlyCollapses = all.length - scored.length;
  const recall = wilson(leads.length, collapsed.length);
  const precision = wilson(leads.length, alarmedRuns);
  const rate = wilson(Math.min(falseAlarmCount, healthy), healthy);
  const allIterations = sum(scored.map(healthyIterations));
  const kinds = [...new Set(scored.map(({ run }) => run.kind))].sort();
  return {
    runs: all.length,
    collapsed: collapsed.length,
    lost_at_once: earlyCollapses,
    hits: leads.length,
    recall: collapsed.length > 0 ? leads.length / collapsed.length : null,
    recall_low: collapsed.length > 0 ? recall.low : null,
    recall_high: collapsed.length > 0 ? recall.high : null,
    prompt_hits: promptHits,
    prompt_recall: collapsed.length > 0 ? promptHits / collapsed.length : null,
    recall_with_lost_at_once:
      collapsed.length + earlyCollapses > 0 ? leads.length / (collapsed.length + earlyCollapses) : null,
    precision: alarmedRuns > 0 ? leads.length / alarmedRuns : null,
    precision_low: alarmedRuns > 0 ? precision.low : null,
    precision_high: alarmedRuns > 0 ? precision.high : null,
    healthy_iterations: healthy,
    false_alarms: falseAlarmCount,
    false_alarms_per_1000: healthy > 0 ? (1000 * falseAlarmCount) / healthy : null,
    false_alarms_per_1000_low: healthy > 0 ? 1000 * rate.low : null,
    false_alarms_per_1000_high: healthy > 0 ? 1000 * rate.high : null,
    false_alarms_per_1000_with_declining:
      allIterations > 0 ? (1000 * sum(scored.map(falseAlarms))) / allIterations : null,
    median_lead: leads.length > 0 ? median(leads.map(({ lead }) => lead)) : null,
    worst_lead: leads.length > 0 ? Math.min(...leads.map(({ lead }) => lead)) : null,
    median_lead_share: leads.length > 0 ? median(leads.map(({ share }) => share)) : null,
    alarmed: Object.fromEntries(
      kinds.map((kind) => {
        const ofKind = scored.filter(({ run }) => run.kind === kind);
        return [kind, { alarmed: ofKind.filter(({ alarms }) => alarms.length > 0).length, runs: ofKind.length }];
      }),
    ),
  };
}

/** Returns the iterations from alarm to onset, or -1 if the alarm is not a hit. */
function leadOf(alarm: number, onset: number): number {
  const lead = onset - alarm;
  return lead >= 0 && lead <= longestLead ? lead : -1;
}

/** Counts false alarms: all alarms in runs that did not collapse; in collapsed runs, those too early to be hits. */
function falseAlarms({ run, alarms }: EvaluatedRun): number {
  const { collapsed } = run;
  return collapsed === null ? alarms.length : alarms.filter((alarm) => alarm < collapsed - longestLead).length;
}

function healthyIterations({ run, first, last }: EvaluatedRun): number {
  const until = run.collapsed === null ? last : Math.min(last, run.collapsed - longestLead - 1);
  return Math.max(0, until - first + 1);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
