import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { PanelHash } from '../contract/contract.ts';
import { type KnownEvent, meaningOf, parseEvent } from '../run-directory/events.ts';
import { runFiles } from '../run-directory/names.ts';
import type { RolloutPaths } from '../run-directory/rollouts.ts';

/** The metrics of one iteration, including its evaluations. */
export interface Point {
  iteration: number;
  /** Time of the newest metric in ms since the epoch. */
  time: number;
  values: Record<string, number>;
}

export type RolloutEntry = RolloutPaths & { iteration: number; split: string; episodes: number };

/** Facts about a run's training from its journal. */
export interface RunRecord {
  /** By iteration. */
  points: Point[];
  /** Rollout files that were not deleted, by iteration. */
  rollouts: RolloutEntry[];
  /** Panels of the evaluations, by label. */
  panels: PanelHash[];
  /** Start event of the last trainer, or null if none has started. */
  started: Extract<KnownEvent, { type: 'started' }>['body'] | null;
}

/** Reads a run's journal. Drops entries after a checkpoint if a trainer resumed from it. */
export async function readRecord(folder: string): Promise<RunRecord> {
  const points = new Map<number, Point>();
  const rollouts = new Map<string, RolloutEntry>();
  const panels = new Map<string, PanelHash>();
  const record: RunRecord = { points: [], rollouts: [], panels: [], started: null };
  const file = await open(join(folder, runFiles.journal)).catch(nullIfMissing);
  // A run that was never started has no journal.
  if (!file) return record;
  for await (const line of file.readLines({ encoding: 'utf8' })) {
    const event = parseEvent(line);
    if (!event) continue;
    const { begins, metrics, evaluation, rollout, rolloutRemoved } = meaningOf(event);
    if (begins) {
      if (event.type === 'started') record.started = event.body;
      for (const each of [points, rollouts])
        for (const [key, { iteration }] of each) if (iteration > begins.after) each.delete(key as never);
    }
    if (metrics) {
      const before = points.get(metrics.iteration)?.values;
      const values = { ...before, ...metrics.values };
      points.set(metrics.iteration, { iteration: metrics.iteration, time: event.time, values });
    }
    if (evaluation?.panel) panels.set(evaluation.label, { label: evaluation.label, hash: evaluation.panel });
    if (rollout) rollouts.set(`${rollout.iteration} ${rollout.split}`, rollout);
    if (rolloutRemoved) rollouts.delete(`${rolloutRemoved.iteration} ${rolloutRemoved.split}`);
  }
  const byIteration = <T extends { iteration: number }>(entries: Iterable<T>) =>
    [...entries].sort((a, b) => a.iteration - b.iteration);
  return {
    ...record,
    points: byIteration(points.values()),
    rollouts: byIteration(rollouts.values()),
    panels: [...panels.values()],
  };
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
