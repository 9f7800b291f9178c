export interface Bin {
  low: number;
  high: number;
  count: number;
}

const maxBins = 8;

/** Returns bins of equal width over the values' range, at most {@link maxBins}; one for equal values, none without values. */
export function binsOf(values: readonly number[]): Bin[] {
  if (values.length === 0) return [];
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (low === high) return [{ low, high, count: values.length }];
  const distinct = new Set(values).size;
  const bins = Math.min(maxBins, Math.max(2, distinct));
  const width = (high - low) / bins;
  const counts = Array<number>(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.floor((value - low) / width))]! += 1;
  return counts.map((count, bin) => ({ low: low + bin * width, high: low + (bin + 1) * width, count }));
}
