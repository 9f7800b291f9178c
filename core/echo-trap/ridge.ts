/** Logistic regression with a ridge penalty and non-negative weights. */

export interface Example {
  /** One number per signal. */
  x: readonly number[];
  /** Whether a collapse is near. */
  y: boolean;
  /** Weight in the loss. */
  weight: number;
}

export interface Fit {
  weights: number[];
  bias: number;
}

const steps = 400;
const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));

/**
 * Minimizes `sum(weight * log loss) + penalty * sum((w_i * std_i)²)`, so that units do not matter, by accelerated projected gradient (FISTA). The loss is
 * convex, so the solution is unique.
 */
export function fitRidge(examples: readonly Example[], penalty: number): Fit {
  const size = examples[0]?.x.length ?? 0;
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const scales = Array.from({ length: size }, (_, i) => deviationOf(examples, i, total));
  const scaled = examples.map(({ x, ...rest }) => ({ ...rest, x: x.map((value, i) => value / scales[i]!) }));
  // The Lipschitz constant of the gradient is at most a quarter of the mean squared norm of (x, 1).
  const lengths = scaled.map(({ x, weight }) => weight * (1 + x.reduce((sum, value) => sum + value ** 2, 0)));
  const rate = 1 / (0.25 * lengths.reduce((sum, value) => sum + value, 0) + 2 * penalty || 1);
  let now: number[] = Array.from({ length: size + 1 }, () => 0);
  let ahead = now;
  let momentum = 1;
  for (let step = 0; step < steps; step += 1) {
    const slope = ahead.map((value, i) => (i < size ? 2 * penalty * value : 0));
    for (const { x, y, weight } of scaled) {
      let z = ahead[size]!;
      for (let i = 0; i < size; i += 1) z += ahead[i]! * x[i]!;
      const error = weight * (sigmoid(z) - Number(y));
      for (let i = 0; i < size; i += 1) slope[i]! += error * x[i]!;
      slope[size]! += error;
    }
    const next = ahead.map((value, i) => (i < size ? Math.max(0, value - rate * slope[i]!) : value - rate * slope[i]!));
    const faster = (1 + Math.sqrt(1 + 4 * momentum ** 2)) / 2;
    ahead = next.map((value, i) => value + ((momentum - 1) / faster) * (value - now[i]!));
    [now, momentum] = [next, faster];
  }
  return { weights: now.slice(0, size).map((value, i) => value / scales[i]!), bias: now[size]! };
}

/** Returns the standard deviation of a signal over the examples, or 1 if it is constant. */
function deviationOf(examples: readonly Example[], signal: number, total: number): number {
  const over = (of: (value: number) => number) =>
    examples.reduce((sum, { x, weight }) => sum + weight * of(x[signal]!), 0) / total;
  const middle = over((value) => value);
  const deviation = Math.sqrt(over((value) => (value - middle) ** 2));
  return deviation > 1e-9 ? deviation : 1;
}
