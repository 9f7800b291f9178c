import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { bundleChoice } from '../contract/library.ts';
import { runFiles } from '../run-directory/names.ts';

/** A run in one file (docs/formats/bundle.md). */

export const bundleFormat = 'starpo-studio-run';
export const bundleVersion = 1;

/** The manifest, the bundle's first file. */
export const manifestName = 'bundle.json';
export const manifest = z.looseObject({
  format: z.literal(bundleFormat),
  version: z.number().int(),
  run: z.string().max(64),
  name: z.string().max(400),
  /** Creation time in ms since the epoch. */
  time: z.number(),
  /** Version of StarPO Studio that created it. */
  studio: z.string().max(64),
  holds: bundleChoice.catch({ checkpoints: 'all', episodes: 'all' }),
});
export type Manifest = z.infer<typeof manifest>;

/** Folder of the run's files. */
export const runPrefix = 'run/';

const name = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}';
const { config, journal, annotations, forkBaseline, log } = runFiles;
const whole = [config, journal, annotations, forkBaseline, log].map((file) => file.replaceAll('.', '\\.'));
const allowed = new RegExp(
  `^(?:${whole.join('|')}|(?:${runFiles.rollouts}|${runFiles.evaluations})/${name}|${runFiles.checkpoints}/\\d{6,7}/${name})$`,
);

/**
 * Returns whether a bundle may contain this path. Trainer commands (control.jsonl), the trainer's lock and unknown paths are excluded from export and
 * rejected on import.
 */
export const mayHold = (path: string): boolean => allowed.test(path);

/** Files that do not compress further. */
export const isPacked = (path: string): boolean => /\.(zst|safetensors)$/.test(path);

export const invalid = (what: string) =>
  new Failure(
    'bundle_invalid',
    `Not a valid run bundle: ${what}.`,
    'Choose a .zip exported by StarPO Studio, or copy it again.',
  );
