import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { runFiles } from './names.ts';

/** Result of a requested evaluation (docs/formats/evaluation.md). Unknown keys are ignored. */
export const evaluationResult = z.looseObject({
  version: z.int(),
  name: z.string(),
  time: z.number(),
  seconds: z.number(),
  checkpoint: z.int(),
  levels: z.int(),
  seed: z.int(),
  temperature: z.number(),
  /** Absent in results of earlier trainers, which sampled from the whole distribution. */
  top_p: z.number().default(1),
  top_k: z.int().default(0),
  min_p: z.number().default(0),
  /** Hash of its panel. Absent in results of earlier trainers. */
  panel: z.string().nullable().default(null),
  environment: z.looseObject({
    label: z.string(),
    type: z.string(),
    config: z.record(z.string(), z.unknown()),
    /** Absent in the results of other trainers. */
    noise: z.enum(['shared', 'independent', 'reference']).optional(),
    files_sha256: z.string().optional(),
  }),
  metrics: z.record(z.string(), z.number()),
  /** For example about void episodes. */
  warnings: z.array(z.string()).default([]),
  file: z.string(),
  index: z.string(),
  episodes: z.int(),
});
export type EvaluationResult = z.infer<typeof evaluationResult>;

const resultFile = /^([a-z0-9-]{1,64})\.json$/;

/** Returns a run's readable results, newest first. */
export async function listEvaluationResults(folder: string): Promise<EvaluationResult[]> {
  const files = await readdir(join(folder, runFiles.evaluations)).catch(() => []);
  const names = files.flatMap((file) => resultFile.exec(file)?.[1] ?? []);
  const results = await Promise.all(names.map((name) => readResult(folder, name).catch(() => null)));
  return results.filter((result) => result !== null).sort((a, b) => b.time - a.time);
}

/** Returns a result by its name. Throws `evaluation_unknown` or `evaluation_corrupt`. */
export async function readResult(folder: string, name: string): Promise<EvaluationResult> {
  const path = join(folder, runFiles.evaluations, `${name}.json`);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Failure('evaluation_unknown', `Evaluation ${name} was not found.`, 'Choose one from the list.');
  });
  try {
    return evaluationResult.parse(JSON.parse(text));
  } catch {
    throw new Failure(
      'evaluation_corrupt',
      `The evaluation file ${path} is invalid.`,
      'Delete the file and evaluate the checkpoint again.',
    );
  }
}
