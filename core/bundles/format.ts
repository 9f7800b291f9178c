import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { bundleChoice } from '../contract/library.ts';
import { runFiles } from '../run-directory/names.ts';

/** Format of run bundles (docs/formats/bundle.md). */

export const bundleFormat = 'starpo-studio-run';
export const bundleVersion = 1;

/** The manifest is the bundle's first file. */
export const manifestName = 'bundle.json';
export const manifestSchema = z.looseObject({
  format: z.literal(bundleFormat),
  version: z.int(),
  run: z.string().max(64),
  name: z.string().max(400),
  /** Creation time in ms since the epoch. */
  time: z.number(),
  /** Version of StarPO Studio that created it. */
  studio: z.string().max(64),
  contains: bundleChoice.catch({ checkpoints: 'all', episodes: 'all' }),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Folder of the run's files. */
export const runPrefix = 'run/';

const name = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}';
const { config, journal, annotations, forkBaseline, log } = runFiles;
const whole = [config, journal, annotations, forkBaseline, log].map((file) => file.replaceAll('.', '\\.'));
const allowed = new RegExp(
  `^(?:${whole.join('|')}|(?:${runFiles.rollouts}|${runFiles.evaluations}|${runFiles.panels})/${name}|${runFiles.checkpoints}/\\d{6,7}/${name})$`,
);

/**
 * Returns whether a bundle may contain a path. Exports skip and imports reject other paths, such as trainer commands (control.jsonl) and the
 * trainer's lock.
 */
export const isAllowed = (path: string): boolean => allowed.test(path);

/** Returns the maximum size of a file in bytes. Files that are parsed as JSON are limited, because parsing takes several times their size. */
export function maxBytes(path: string): number {
  if (path === config) return 1 << 20;
  const isRead =
    path === annotations || path === forkBaseline || /^(rollouts|evaluations|checkpoints)\/.*\.json$/.test(path);
  return isRead ? 64 << 20 : Number.POSITIVE_INFINITY;
}

/** Returns whether a file is already compressed. */
export const isPacked = (path: string): boolean => /\.(zst|safetensors)$/.test(path);

export const invalid = (reason: string) =>
  new Failure(
    'bundle_invalid',
    `Not a valid run bundle: ${reason}.`,
    'Choose a .zip exported by StarPO Studio, or copy it again.',
  );
