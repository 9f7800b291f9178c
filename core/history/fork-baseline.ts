import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { TrackPoint } from '../echo-trap/track.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';

/** What a run's monitor begins with, beside its metrics: all of it lies in the run's own folder, so that no other run changes what is said of it. */

const version = 1;
const normal = z.looseObject({
  version: z.literal(version),
  points: z.array(z.looseObject({ iteration: z.number().int(), values: z.record(z.string(), z.number()) })),
});

/** What a fork is measured by, for its folder (docs/formats/echo-trap.md); null where that is nothing. */
export const normalText = (
  from: { run: string; iteration: number },
  points: readonly TrackPoint[],
): string | null => (points.length > 0 ? `${JSON.stringify({ version, from, points })}\n` : null);

/** Returns an empty list if the file is missing or invalid; the run is then judged without a baseline from its parent. */
export function readNormal(home: string, runId: string): TrackPoint[] {
  return normal.safeParse(readJson(home, runId, runFiles.normal)).data?.points ?? [];
}

/** run.json in today's form; of one that can't be read, nothing is known. */
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
