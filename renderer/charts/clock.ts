/** Formats the time axis: ms since 1970, in the user's time zone. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Steps that divide a day, and whole days. */
const steps = [
  ...[1, 2, 5, 10, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 30, 91, 365].map((count) => count * day),
];

/** Returns about `count` ticks at round times of day. */
export function clockTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  const step = steps.find((each) => each >= rough) ?? Math.ceil(rough / (365 * day)) * 365 * day;
  const first = new Date(low);
  const midnight = (days: number) => new Date(first.getFullYear(), first.getMonth(), first.getDate() + days).getTime();
  const ticks: number[] = [];
  // Days differ in length when clocks change.
  for (let days = 0; midnight(days) <= high; days += Math.max(1, step / day)) {
    const next = midnight(days + 1);
    for (let tick = midnight(days); tick < next && tick <= high; tick += Math.min(step, day))
      if (tick >= low) ticks.push(tick);
  }
  return ticks;
}

/**
 * Formats a tick: the time, with the date if it differs from the previous tick's, and seconds if any tick has some.
 * Ticks at midnight of different days show only the date.
 */
export function clockTick(time: number, index = 0, all: readonly number[] = [time]): string {
  const text = (options: Intl.DateTimeFormatOptions) =>
    new Date(time).toLocaleString(undefined, { hour12: false, ...options });
  const dayOf = (each: number) => new Date(each).toDateString();
  const date = text({ day: 'numeric', month: 'short' });
  const onlyDays = all.length > 1 && all.every((each) => new Date(each).getHours() === 0 && each % minute === 0);
  if (onlyDays && all.every((each, at) => at === 0 || dayOf(each) !== dayOf(all[at - 1]!))) return date;
  const seconds = all.some((each) => each % minute >= second);
  const at = text({ hour: '2-digit', minute: '2-digit', ...(seconds && { second: '2-digit' }) });
  return index > 0 && dayOf(all[index - 1]!) === dayOf(time) ? at : `${date} ${at}`;
}

/** Formats date and time in the user's locale: `22 Nov 2026, 14:35:20`. */
export const dayAndTime = (time: number): string =>
  new Date(time).toLocaleString(undefined, {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false },
  });
