import type { RewardHistogram } from '../contract/contract.ts';
import { trainSplit } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared } from './statements.ts';

/** Approximate number of bins. */
const targetBins = 20;

/** Counts the rewards of a run's indexed training episodes per iteration. Bins are centered on round numbers, where most rewards are. */
export function readRewards(database: HistoryDatabase, runId: string): RewardHistogram {
  const { least, most } = prepared<[string, string], { least: number | null; most: number | null }>(
    database,
    'SELECT min(reward) AS least, max(reward) AS most FROM episodes WHERE run = ? AND split = ?',
  ).get(runId, trainSplit)!;
  if (least === null || most === null) return { first: 0, step: 1, bins: 0, iterations: [] };
  const step = roundStep((most - least) / targetBins);
  const lowest = Math.round(least / step);
  const bins = Math.round(most / step) - lowest + 1;
  const rows = prepared<[number, number, string, string], { iteration: number; bin: number; count: number }>(
    database,
    `SELECT iteration, CAST(round(reward / ?) AS INTEGER) - ? AS bin, count(*) AS count FROM episodes
     WHERE run = ? AND split = ? GROUP BY iteration, bin ORDER BY iteration`,
  ).all(step, lowest, runId, trainSplit);
  const iterations: RewardHistogram['iterations'] = [];
  for (const { iteration, bin, count } of rows) {
    if (iterations.at(-1)?.iteration !== iteration)
      iterations.push({ iteration, counts: new Array<number>(bins).fill(0) });
    // JavaScript rounds halves up, SQLite away from zero.
    const within = Math.min(bins - 1, Math.max(0, bin));
    iterations.at(-1)!.counts[within]! += count;
  }
  return { first: lowest * step, step, bins, iterations };
}

/** Returns the next larger of 1, 2 or 5 times a power of ten; 0.1 if all rewards are equal. */
function roundStep(atLeast: number): number {
  if (!(atLeast > 0)) return 0.1;
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= atLeast * (1 - 1e-9)) ?? 10 * power;
}
