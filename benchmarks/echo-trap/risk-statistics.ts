import { type Example, fitRidge } from '../../core/echo-trap/ridge.ts';

/** Compares a score with the true risk: the share of continuations from a checkpoint that collapsed. */

export interface RiskPoint {
  family: string;
  seed: number;
  /** The checkpoint. */
  iteration: number;
  /** The monitor's risk score there; null if it had none. */
  score: number | null;
  /** Strengths of the weighted signals, in their order. */
  strengths: number[];
  continuations: number;
  collapsed: number;
}

const riskOf = ({ continuations, collapsed }: RiskPoint) => collapsed / continuations;
const rounded = (value: number) => Number(value.toFixed(3));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the mean squared difference of a probability and the outcome, over all continuations. */
export function brier(points: readonly RiskPoint[], probabilities: readonly number[]): number {
  let [sum, count] = [0, 0];
  for (const [i, { continuations, collapsed }] of points.entries()) {
    const p = probabilities[i]!;
    sum += collapsed * (1 - p) ** 2 + (continuations - collapsed) * p ** 2;
    count += continuations;
  }
  return sum / count;
}

/** Returns the probability that a continuation that collapsed has a higher score than one that did not; NaN if all ended alike. */
export function areaUnderCurve(points: readonly RiskPoint[], scores: readonly number[]): number {
  let [wins, pairs] = [0, 0];
  for (const [i, { collapsed }] of points.entries())
    for (const [k, { continuations, collapsed: lost }] of points.entries()) {
      const weight = collapsed * (continuations - lost);
      pairs += weight;
      wins += weight * (scores[i]! > scores[k]! ? 1 : scores[i]! === scores[k]! ? 0.5 : 0);
    }
  return wins / pairs;
}

/** Returns the probability at each point by logistic regression on the other runs. Points without others of both outcomes get the mean risk. */
function crossFitted(points: readonly RiskPoint[], inputs: readonly (readonly number[])[]): number[] {
  const groupOf = ({ family, seed }: RiskPoint) => `${family} ${seed}`;
  return points.map((point, i) => {
    const others = points.flatMap((other, k) => (groupOf(other) === groupOf(point) ? [] : k));
    const examples = others.flatMap((k): Example[] => {
      const { continuations, collapsed } = points[k]!;
      const x = inputs[k]!;
      return [
        { x, y: true, weight: collapsed },
        { x, y: false, weight: continuations - collapsed },
      ].filter(({ weight }) => weight > 0);
    });
    const total = examples.reduce((sum, { weight }) => sum + weight, 0);
    if (new Set(examples.map(({ y }) => y)).size < 2) return mean(points.map(riskOf));
    const fit = fitRidge(
      examples.map((each) => ({ ...each, weight: each.weight / total })),
      0.01,
    );
    const z = inputs[i]!.reduce((sum, value, at) => sum + value * fit.weights[at]!, fit.bias);
    return 1 / (1 + Math.exp(-z));
  });
}

/** Returns the logistic regression of collapse on the score, over all points: the app shows it as a share of runs. */
function fitScore(points: readonly RiskPoint[]) {
  const examples = points.flatMap(({ score, continuations, collapsed }): Example[] =>
    [
      { x: [score!], y: true, weight: collapsed },
      { x: [score!], y: false, weight: continuations - collapsed },
    ].filter(({ weight }) => weight > 0),
  );
  const { weights, bias } = fitRidge(examples, 0);
  return { bias: rounded(bias), weight: rounded(weights[0]!) };
}

/** Returns the true risk of scores up to each limit. */
function riskByScore(points: readonly RiskPoint[], limits: readonly number[]) {
  return limits.map((to, i) => {
    const from = limits[i - 1] ?? 0;
    const inside = points.filter(({ score }) => score! >= from && score! < to);
    const count = (key: 'continuations' | 'collapsed') => inside.reduce((sum, point) => sum + point[key], 0);
    return { from, points: inside.length, continuations: count('continuations'), collapsed: count('collapsed') };
  });
}

/** Compares the mean probability and the true risk in bins of equal width. */
function reliability(points: readonly RiskPoint[], probabilities: readonly number[], bins = 5) {
  return Array.from({ length: bins }, (_, bin) => {
    const inside = points.flatMap((point, i) =>
      Math.min(bins - 1, Math.floor(probabilities[i]! * bins)) === bin ? { point, probability: probabilities[i]! } : [],
    );
    const continuations = inside.reduce((sum, { point }) => sum + point.continuations, 0);
    const collapsed = inside.reduce((sum, { point }) => sum + point.collapsed, 0);
    return {
      from: bin / bins,
      points: inside.length,
      predicted: inside.length === 0 ? null : rounded(mean(inside.map(({ probability }) => probability))),
      true_risk: continuations === 0 ? null : rounded(collapsed / continuations),
    };
  });
}

/** Returns how well a probability predicts. */
const quality = (points: readonly RiskPoint[], probabilities: readonly number[]) => ({
  brier: rounded(brier(points, probabilities)),
  area_under_curve: rounded(areaUnderCurve(points, probabilities)),
});

/**
 * Compares the score, calibrated by the other runs, with the true risk. `ceiling`: what a function that knew the true risk would reach, without the
 * optimism of the finite number of continuations in its Brier score. `signals`: logistic regression on the strengths of all signals, fitted to the other runs.
 */
export function summarizeRisk(all: readonly RiskPoint[]) {
  const points = all.filter(({ score }) => score !== null);
  if (points.length === 0) return null;
  const calibrated = crossFitted(
    points,
    points.map(({ score }) => [score!]),
  );
  const risks = points.map(riskOf);
  const spread = points.map((point, i) => {
    const { continuations: n } = point;
    return n < 2 ? Number.NaN : (risks[i]! * (1 - risks[i]!) * n) / (n - 1);
  });
  return {
    points: points.length,
    mean_risk: rounded(mean(risks)),
    by_score: riskByScore(points, [0.7, 1, 1.2, Number.POSITIVE_INFINITY]),
    fit: fitScore(points),
    score: { ...quality(points, calibrated), reliability: reliability(points, calibrated) },
    signals: quality(
      points,
      crossFitted(
        points,
        points.map(({ strengths }) => strengths),
      ),
    ),
    mean_risk_alone: quality(
      points,
      points.map(() => mean(risks)),
    ),
    ceiling: { brier: rounded(mean(spread)), area_under_curve: rounded(areaUnderCurve(points, risks)) },
  };
}
