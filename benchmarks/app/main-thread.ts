import type { Browser, Page } from 'playwright-core';

/** Measures a page's main thread time per animation frame with the browser's trace. */

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds; `tdur` is the thread's processor time. */
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
  most: number;
}

export interface FrameTimes {
  frames: number;
  /** Wall time; includes waiting for other programs. */
  milliseconds_of_main_thread_a_frame: Quantiles;
  milliseconds_of_its_processor_time_a_frame: Quantiles;
}

/** Traces a page during `act`, requesting a frame after each frame. */
export async function watchFrames(browser: Browser, page: Page, act: () => Promise<unknown>): Promise<FrameTimes> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  const loop = await page.evaluateHandle(() => {
    const state = { ended: false };
    const next = () => void (state.ended || requestAnimationFrame(next));
    next();
    return state;
  });
  await act();
  await loop.evaluate((state) => {
    state.ended = true;
  });
  const frames = framesOf(JSON.parse((await browser.stopTracing()).toString()));
  return {
    frames: frames.length,
    milliseconds_of_main_thread_a_frame: quantiles(frames.map(({ wall }) => wall)),
    milliseconds_of_its_processor_time_a_frame: quantiles(frames.map(({ own }) => own)),
  };
}

export const rounded = (value: number) => Math.round(value * 100) / 100;

function quantiles(of: readonly number[]): Quantiles {
  const sorted = of.toSorted((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) };
}

/** Returns main thread time between animation frames in ms: wall time and processor time. */
function framesOf({ traceEvents }: { traceEvents: TraceEvent[] }): { wall: number; own: number }[] {
  const perThread = Map.groupBy(traceEvents, ({ pid, tid }) => `${pid} ${tid}`);
  const isMain = (events: TraceEvent[]) =>
    events.some(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain') &&
    events.some(({ name }) => name === 'FireAnimationFrame');
  const main = [...perThread.values()].filter(isMain).sort((a, b) => b.length - a.length)[0] ?? [];
  // Other categories repeat each task as RunTask.
  const tasks = main.filter(({ name, ph }) => ph === 'X' && name === 'ThreadControllerImpl::RunTask');
  const asked = main.filter(({ name }) => name === 'FireAnimationFrame').map(({ ts }) => ts);
  // Several callbacks may share a frame.
  const begins = tasks
    .filter(({ ts, dur = 0 }) => asked.some((at) => at >= ts && at <= ts + dur))
    .map(({ ts }) => ts)
    .sort((a, b) => a - b);
  const frames = begins.map(() => ({ wall: 0, own: 0 }));
  for (const { ts, dur = 0, tdur = 0 } of tasks) {
    const at = begins.findLastIndex((begin) => begin <= ts);
    if (at < 0) continue;
    frames[at]!.wall += dur / 1000;
    frames[at]!.own += tdur / 1000;
  }
  // The last frame is incomplete.
  return frames.slice(0, -1);
}
