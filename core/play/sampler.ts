import type { Sampling } from '../contract/contract.ts';

/** Samples a token as the trainer does, with the filters top-k, then min-p, then top-p. `uniform`: a random number in [0, 1). */
export function sampleToken(logits: Float32Array, sampling: Sampling, uniform: number): number {
  const { temperature, topK, topP, minP } = sampling;
  let best = 0;
  for (let id = 1; id < logits.length; id += 1) if (logits[id]! > logits[best]!) best = id;
  if (temperature === 0) return best;

  const weights = logits.map((logit) => Math.exp((logit - logits[best]!) / temperature));
  const keepAtLeast = (threshold: number) => {
    for (let id = 0; id < weights.length; id += 1) if (weights[id]! < threshold) weights[id] = 0;
  };
  if (topK > 0 && topK < weights.length) keepAtLeast(weights.toSorted().at(-topK)!);
  if (minP > 0) keepAtLeast(minP);
  if (topP < 1) keepAtLeast(nucleusThreshold(weights, topP));

  const target = uniform * sum(weights);
  let cumulative = 0;
  let last = best;
  for (let id = 0; id < weights.length; id += 1) {
    if (weights[id] === 0) continue;
    cumulative += weights[id]!;
    last = id;
    if (cumulative > target) break;
  }
  return last;
}

/** Returns the smallest weight of the top-p set: the fewest weights whose sum reaches `share` of the total. */
function nucleusThreshold(weights: Float32Array, share: number): number {
  const target = share * sum(weights);
  let cumulative = 0;
  for (const weight of weights.toSorted().reverse()) {
    cumulative += weight;
    if (cumulative >= target) return weight;
  }
  return 0;
}

const sum = (weights: Float32Array) => weights.reduce((total, weight) => total + weight, 0);
