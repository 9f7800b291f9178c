import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { problemIn } from '../contract/issue-words.ts';
import type { Threshold } from './detector.ts';
import { defaultParameters, type Parameters, parametersSchema } from './parameters.ts';
import { detectors } from './signals.ts';

/** All settings of the monitor: shared parameters, the detectors' thresholds, and the weights of the risk score. */
export interface Thresholds extends Parameters {
  /** By threshold name. Detectors may share one. */
  detectors: Readonly<Record<string, number>>;
  /** By detector name. */
  weights: Readonly<Record<string, number>>;
}

const own: Record<string, Threshold> = Object.assign({}, ...detectors.map(({ thresholds }) => thresholds));
const weights = Object.fromEntries(
  detectors.flatMap(({ name, weight }) => (weight === undefined ? [] : [[name, weight]])),
);

const mapped = <A, B>(object: Record<string, A>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));

/** A function, because only saved thresholds need the schema. */
const thresholdsSchema = () =>
  parametersSchema().extend({
    detectors: z.strictObject(
      mapped(own, ({ whole, minimum, maximum }) => (whole ? z.int() : z.number()).min(minimum).max(maximum)),
    ),
    weights: z.strictObject(mapped(weights, () => z.number().min(0).max(2))),
  });

/** Built-in thresholds. */
export const shippedThresholds: Thresholds = {
  ...defaultParameters,
  detectors: mapped(own, ({ value }) => value),
  weights,
};

/** Throws `thresholds_invalid` with the first problem. */
export function parseThresholds(value: unknown): Thresholds {
  const parsed = thresholdsSchema().safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Failure(
    'thresholds_invalid',
    `Invalid thresholds: ${problemIn(value, parsed.error)}.`,
    'Delete echo-trap.json from the data folder to use the built-in thresholds, or run `starpo calibrate FOLDER --fit`.',
  );
}
