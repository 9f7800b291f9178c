/** How the next token is chosen, as `rollout` of run.json names it; a temperature of 0 takes the likeliest. */
export interface Sampling {
  temperature: number;
  /** 0: no limit. */
  topK: number;
  topP: number;
  minP: number;
}

/** Draws a token as the trainer does: the largest `topK`, then those of at least `minP` of the largest, then the smallest set that holds `topP`. `uniform` in [0, 1). */
export function sampleToken(logits: Float32Array, sampling: Sampling, uniform: number): number {
  const { temperature, topK, topP, minP } = sampling;
  let likeliest = 0;
  for (let id = 1; id < logits.length; id += 1) if (logits[id]! > logits[likeliest]!) likeliest = id;
  if (temperature === 0) return likeliest;

  const weights = logits.map((logit) => Math.exp((logit - logits[likeliest]!) / temperature));
  const keepAtLeast = (threshold: number) => {
    for (let id = 0; id < weights.length; id += 1) if (weights[id]! < threshold) weights[id] = 0;
  };
  if (topK > 0 && topK < weights.length) keepAtLeast(weights.toSorted().at(-topK)!);
  if (minP > 0) keepAtLeast(minP);
  if (topP < 1) keepAtLeast(nucleusThreshold(weights, topP));

  const target = uniform * sum(weights);
  let passed = 0;
  let last = likeliest;
  for (let id = 0; id < weights.length; id += 1) {
    if (weights[id] === 0) continue;
    passed += weights[id]!;
    last = id;
    if (passed > target) break;
  }
  return last;
}

/** The smallest weight inside the smallest set of largest ones that holds a share of the total. */
function nucleusThreshold(weights: Float32Array, share: number): number {
  const wanted = share * sum(weights);
  let held = 0;
  for (const weight of weights.toSorted().reverse()) {
    held += weight;
    if (held >= wanted) return weight;
  }
  return 0;
}

const sum = (weights: Float32Array) => weights.reduce((total, weight) => total + weight, 0);
