import type { AxisKind } from './axes.ts';
import type { ChartSpec } from './chart-specs.ts';
import { clockTicks } from './clock.ts';
import type { Column, Layout, Zoom } from './layout.ts';

/** How the y axis maps values. */
export interface ValueScale {
  log: boolean;
  /** Ignores the highest and lowest of many values. */
  ignoreOutliers: boolean;
}

/** Share of values that is ignored at either end. */
const outlierShare = 0.01;
/** With fewer values than this, all are shown. */
const fewValues = 40;

/** Returns the visible range of values. `included`: additional values. Returns logarithms if the scale is logarithmic. */
export function valueRange(
  layout: Layout,
  columns: readonly Column[],
  spec: Pick<ChartSpec, 'low' | 'high'>,
  { log, ignoreOutliers }: ValueScale,
  zoom: Zoom,
  included: readonly number[] = [],
): [number, number] {
  const visible: number[] = [];
  for (const [index] of columns.entries()) {
    const values = layout.values[index]!;
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      if (value !== undefined && layout.x[at]! >= zoom.min && layout.x[at]! <= zoom.max) visible.push(value);
    }
  }
  if (ignoreOutliers && visible.length >= fewValues) {
    visible.sort((a, b) => a - b);
    const ignored = Math.max(1, Math.floor(visible.length * outlierShare));
    visible.splice(visible.length - ignored);
    visible.splice(0, ignored);
  }
  for (const value of included) if (!log || value > 0) visible.push(log ? Math.log10(value) : value);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of visible) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return log ? [-1, 0] : [spec.low ?? 0, spec.high ?? (spec.low ?? 0) + 1];
  if (log) return high - low < 0.2 ? [low - 0.1, high + 0.1] : [low - (high - low) * 0.05, high + (high - low) * 0.05];
  const span = high - (spec.low ?? low);
  // Smoothing makes equal values differ by rounding.
  const margin = (span > 1e-9 * Math.abs(high) ? span : Math.abs(high) || 1) * 0.1;
  // Only a band around a mean may exceed the bounds.
  return [spec.low ?? low - margin, spec.high ?? high + margin];
}

/** Returns about `count` ticks at 1, 2 and 5 times powers of ten. */
export function niceTicks(low: number, high: number, count: number, least = 0): number[] {
  const rough = Math.max((high - low) / Math.max(1, count), least, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
  return ticksBy(step, low, high);
}

function ticksBy(step: number, low: number, high: number): number[] {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // Rounding keeps 0.3 at 0.3.
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Returns logarithmic ticks: powers of ten, or multiples of them if at most two powers are in range. */
export function logTicks(low: number, high: number, count: number): number[] {
  const powers = ticksBy(Math.max(1, Math.ceil((high - low) / Math.max(1, count))), low, high);
  if (powers.length > 2) return powers;
  const factors = high - low > 0.7 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const exponents = ticksBy(1, Math.floor(low), Math.ceil(high));
  return exponents
    .flatMap((exponent) => factors.map((factor) => exponent + Math.log10(factor)))
    .filter((value) => value >= low && value <= high);
}

export const valueTicks = (low: number, high: number, count: number, log: boolean): number[] =>
  log ? logTicks(low, high, count) : niceTicks(low, high, count);

const timeSteps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18_000, 36_000, 86_400];

/** Returns integer ticks, or round times. `count` applies to narrow labels; dates are wide. */
export function positionTicks(kind: AxisKind, low: number, high: number, count: number): number[] {
  if (kind === 'clock') return clockTicks(low, high, count * 0.6);
  if (kind !== 'time') return niceTicks(low, high, count, 1);
  const rough = (high - low) / Math.max(1, count);
  const step = timeSteps.find((each) => each >= rough);
  return step === undefined ? niceTicks(low, high, count, 86_400) : ticksBy(step, low, high);
}

/** Formats ticks like `tickText`. Equal labels get more digits, unless they contain letters, such as `200k`. */
export function tickTexts(spec: Pick<ChartSpec, 'format' | 'tick'>, values: readonly number[], log: boolean): string[] {
  const texts = values.map((value) => tickText(spec, value, log));
  if (new Set(texts).size === texts.length) return texts;
  const shown = log ? values.map((value) => 10 ** value) : values;
  if (texts.every((text) => text.endsWith(' %')))
    return exact(shown.map((value) => 100 * value)).map((text) => `${text} %`);
  return texts.some((text) => /[a-z]/i.test(text.replace('e', ''))) ? texts : exact(shown);
}

/** Formats values with as few digits as distinguish them, at least four. */
function exact(values: readonly number[]): string[] {
  const withDigits = (digits: number) =>
    values.map((value) => String(Number(value.toPrecision(digits))).replace('-', '−'));
  for (let digits = 4; digits < 12; digits++) {
    const texts = withDigits(digits);
    if (new Set(texts).size === texts.length) return texts;
  }
  return withDigits(12);
}

/** Formats a tick without trailing zeros: `60 %` instead of `60.0 %`. */
export function tickText(spec: Pick<ChartSpec, 'format' | 'tick'>, value: number, log: boolean): string {
  const shownValue = log ? 10 ** value : value;
  const format = spec.tick ?? spec.format;
  if (shownValue === 0) return format(0).replace(/0\.0+/, '0');
  return format(shownValue)
    .replace(/(\.\d*?)0+(?=[kM]|\s|$)/, '$1')
    .replace(/\.(?=[kM]|\s|$)/, '');
}
