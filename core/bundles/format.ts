import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { bundleChoice } from '../contract/library.ts';
import { runFiles } from '../run-directory/names.ts';

/** A run in one file, as docs/formats/bundle.md describes it. */

export const bundleFormat = 'starpo-studio-run';
export const bundleVersion = 1;

/** The bundle's first file: what it holds. */
export const manifestName = 'bundle.json';
export const manifest = z.looseObject({
  format: z.literal(bundleFormat),
  version: z.number().int(),
  run: z.string().max(64),
  name: z.string().max(400),
  /** When it was packed, ms since the epoch. */
  time: z.number(),
  /** Of the StarPO Studio that packed it. */
  studio: z.string().max(64),
  holds: bundleChoice.catch({ checkpoints: 'all', episodes: 'all' }),
});
export type Manifest = z.infer<typeof manifest>;

/** Files lie under it as they do in a run directory. */
export const runPrefix = 'run/';

const name = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}';
const { config, journal, annotations, normal, log } = runFiles;
const whole = [config, journal, annotations, normal, log].map((file) => file.replaceAll('.', '\\.'));
const allowed = new RegExp(
  `^(?:${whole.join('|')}|(?:${runFiles.rollouts}|${runFiles.evaluations})/${name}|${runFiles.checkpoints}/\\d{6,7}/${name})$`,
);

/**
 * Whether a run's bundle may hold a file of this path. Neither commands for a trainer (control.jsonl) nor a trainer's lock are among them, and no path that leads anywhere
 * else: what isn't known here isn't packed, and is refused where it comes.
 */
export const mayHold = (path: string): boolean => allowed.test(path);

/** Packed again, these become no smaller. */
export const isPacked = (path: string): boolean => /\.(zst|safetensors)$/.test(path);

export const invalid = (what: string) =>
  new Failure(
    'bundle_invalid',
    `This is no bundle of a run: ${what}.`,
    'Choose a .zip that StarPO Studio exported. If it was one, copy it again: it may be damaged.',
  );
