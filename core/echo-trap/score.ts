import type { LabelledRun } from './labelled-runs.ts';
import { median } from './track.ts';

/** How well alarms foretold what became of labelled runs, as docs/collapse-rule.md counts them. */

/** An alarm counts as a hit up to this many iterations before the onset; an earlier one is false, a later one too late. */
export const longestLead = 100;
/** A run whose onset is before this one of its iterations was lost by its first updates, and nobody can be warned of it: it is told apart. */
export const firstForetold = 10;

/** A run and when a method alarmed in it. */
export interface Judged {
  run: Pick<LabelledRun, 'collapsed' | 'kind'>;
  /** Iterations: 1, or that of a fork, and what it reached. */
  first: number;
  last: number;
  alarms: readonly number[];
}

export interface Score {
  runs: number;
  /** Those that were lost at once are no part of what follows. */
  collapsed: number;
  lost_at_once: number;
  hits: number;
  /** Share of the collapsed runs with an alarm in time, and its Wilson 95 % interval; null without such runs. */
  recall: number | null;
  recall_low: number | null;
  recall_high: number | null;
  /** The same share of all that collapsed, where a run that was lost at once counts as missed. */
  recall_with_lost_at_once: number | null;
  /** Share of the runs that were warned of in time, of all in which there was a hit or a false alarm. */
  precision: number | null;
  precision_low: number | null;
  precision_high: number | null;
  /** Of runs that didn't collapse, and of those that did until {@link longestLead} before the onset; runs that declined are left out. */
  healthy_iterations: number;
  false_alarms: number;
  false_alarms_per_1000: number | null;
  false_alarms_per_1000_low: number | null;
  false_alarms_per_1000_high: number | null;
  /** The same with the runs that declined, as if they were healthy. */
  false_alarms_per_1000_with_declining: number | null;
  /** Iterations from a run's first hit to its onset. */
  median_lead: number | null;
  worst_lead: number | null;
  /** The same as a share of the onset: for short runs. */
  median_lead_share: number | null;
  /** Runs with any alarm, by what they are labelled, of how many. */
  alarmed: Record<string, { alarmed: number; runs: number }>;
}

/** Wilson's interval of a share, 95 %. */
export function wilson(hits: number, trials: number): { low: number; high: number } {
  if (trials === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = hits / trials;
  const middle = share + (z * z) / (2 * trials);
  const spread = z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  const scale = 1 + (z * z) / trials;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Lost more than a fifth and not half: neither a hit nor a false alarm can be told there. */
const unclear = ({ kind }: Judged['run']) => kind === 'declining';

export function scoreOf(all: readonly Judged[]): Score {
  const judged = all.filter(
    ({ run, first }) => run.collapsed === null || run.collapsed - first + 1 >= firstForetold,
  );
  const collapsed = judged.filter(({ run }) => run.collapsed !== null);
  const leads = collapsed.flatMap(({ run, first, alarms }) => {
    const lead = Math.max(...alarms.map((alarm) => leadOf(alarm, run.collapsed!)));
    return lead >= 0 ? { lead, share: lead / Math.max(1, run.collapsed! - first + 1) } : [];
  });
  const clear = judged.filter(({ run }) => !unclear(run));
  const healthy = sum(clear.map(healthyIterations));
  const falses = sum(clear.map(falseAlarms));
  const warnedWrongly = clear.filter((each) => falseAlarms(each) > 0).length;
  const told = leads.length + warnedWrongly;
  const lostAtOnce = all.length - judged.length;
  const recall = wilson(leads.length, collapsed.length);
  const precision = wilson(leads.length, told);
  const rate = wilson(Math.min(falses, healthy), healthy);
  const allIterations = sum(judged.map(healthyIterations));
  const kinds = [...new Set(judged.map(({ run }) => run.kind))].sort();
  return {
    runs: all.length,
    collapsed: collapsed.length,
    lost_at_once: lostAtOnce,
    hits: leads.length,
    recall: collapsed.length > 0 ? leads.length / collapsed.length : null,
    recall_low: collapsed.length > 0 ? recall.low : null,
    recall_high: collapsed.length > 0 ? recall.high : null,
    recall_with_lost_at_once:
      collapsed.length + lostAtOnce > 0 ? leads.length / (collapsed.length + lostAtOnce) : null,
    precision: told > 0 ? leads.length / told : null,
    precision_low: told > 0 ? precision.low : null,
    precision_high: told > 0 ? precision.high : null,
    healthy_iterations: healthy,
    false_alarms: falses,
    false_alarms_per_1000: healthy > 0 ? (1000 * falses) / healthy : null,
    false_alarms_per_1000_low: healthy > 0 ? 1000 * rate.low : null,
    false_alarms_per_1000_high: healthy > 0 ? 1000 * rate.high : null,
    false_alarms_per_1000_with_declining:
      allIterations > 0 ? (1000 * sum(judged.map(falseAlarms))) / allIterations : null,
    median_lead: leads.length > 0 ? median(leads.map(({ lead }) => lead)) : null,
    worst_lead: leads.length > 0 ? Math.min(...leads.map(({ lead }) => lead)) : null,
    median_lead_share: leads.length > 0 ? median(leads.map(({ share }) => share)) : null,
    alarmed: Object.fromEntries(
      kinds.map((kind) => {
        const those = judged.filter(({ run }) => run.kind === kind);
        return [
          kind,
          { alarmed: those.filter(({ alarms }) => alarms.length > 0).length, runs: those.length },
        ];
      }),
    ),
  };
}

/** Iterations before the onset; -1 where the alarm is none of it. */
function leadOf(alarm: number, onset: number): number {
  const lead = onset - alarm;
  return lead >= 0 && lead <= longestLead ? lead : -1;
}

/** In a run that didn't collapse every alarm is false; in one that did, those that came too early to be of its fall. */
export function falseAlarms({ run, alarms }: Judged): number {
  const { collapsed } = run;
  return collapsed === null
    ? alarms.length
    : alarms.filter((alarm) => alarm < collapsed - longestLead).length;
}

function healthyIterations({ run, first, last }: Judged): number {
  const until = run.collapsed === null ? last : Math.min(last, run.collapsed - longestLead - 1);
  return Math.max(0, until - first + 1);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
