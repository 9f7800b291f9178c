import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { TrackPoint } from '../echo-trap/track.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';

/**
 * Inputs of a run's monitor besides its metrics. All of them are in the run's own folder, so that changes to another run don't affect
 * the monitor.
 */

const version = 1;
const forkBaseline = z.looseObject({
  version: z.literal(version),
  points: z.array(z.looseObject({ iteration: z.int(), values: z.record(z.string(), z.number()) })),
});

/** Returns the text of a fork's fork-baseline.json (docs/formats/echo-trap.md), or null without points. */
export const forkBaselineText = (
  from: { run: string; iteration: number },
  points: readonly TrackPoint[],
): string | null => (points.length > 0 ? `${JSON.stringify({ version, from, points })}\n` : null);

/** Returns an empty list if the file is missing or invalid; the monitor then has no baseline from the parent. */
export function readForkBaseline(home: string, runId: string): TrackPoint[] {
  return forkBaseline.safeParse(readJson(home, runId, runFiles.forkBaseline)).data?.points ?? [];
}

/** Returns run.json, upgraded to the current version; null if it can't be read. */
export function configOf(home: string, runId: string): unknown {
  try {
    return upgradeConfig(readJson(home, runId, runFiles.config)).config;
  } catch {
    return null;
  }
}

function readJson(home: string, runId: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(runFolder(home, runId), file), 'utf8'));
  } catch {
    return null;
  }
}
