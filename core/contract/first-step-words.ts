import { scientific } from './numbers.ts';
import type { FirstStepCheck, FirstStepItem } from './runs.ts';

/** Words about the first-step check, for the app, the log and the command line. */

const rounded = (value: number) => scientific(Number(value.toPrecision(2)));
const withUnit = (value: number, unit: string) =>
  unit === 'share' ? `${Number((value * 100).toPrecision(3))} %` : `${rounded(value)}${unit && ` ${unit}`}`;

/** Formats a measurement: `12 %`, `0.0021 nats`. */
export const checkValue = ({ value, unit }: FirstStepItem) => (value === null ? 'none' : withUnit(value, unit));

/** Formats the usual range: `up to 20 %`, `at least 30 %`, `1e-7 to 0.1 nats`; empty if there is none. */
export function usualRange({ low, high, unit }: FirstStepItem): string {
  if (low === high) return '';
  if (high === null || (unit === 'share' && high === 1)) return low === null ? '' : `at least ${withUnit(low, unit)}`;
  if (low === null || low === 0) return `up to ${withUnit(high, unit)}`;
  return unit === 'share'
    ? `${Number((low * 100).toPrecision(3))} to ${withUnit(high, unit)}`
    : `${rounded(low)} to ${withUnit(high, unit)}`;
}

export const notOk = ({ checks }: FirstStepCheck) => checks.filter(({ verdict }) => verdict !== 'ok');

/** Summarizes the verdicts: `1 wrong, 2 suspicious`, or `ok`. */
export function verdictSummary(check: FirstStepCheck): string {
  const counts = new Map<string, number>();
  for (const { verdict } of notOk(check)) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ') || 'ok';
}

/** Describes one check: `Truncated responses 100 % (usual: up to 20 %). Many responses ... Change rollout.max_response_tokens.` */
export function checkLine(item: FirstStepItem): string {
  const usual = usualRange(item);
  const advice = item.setting ? ` Change ${item.setting}.` : '';
  return `${item.title} ${checkValue(item)}${usual && ` (usual: ${usual})`}. ${item.message}${advice}`;
}
