/**
 * Loaded into a process before its own code (`node --import`): tells its parent, whenever it is asked over IPC, how long the event loop was blocked at
 * most since it was asked before, by the clock and by the processor's time that the thread itself had, and what memory is in use after a collection.
 * Where others use the machine, the clock says how long they kept it waiting as well.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolution = 2;

// Threads of the process load this too.
if (isMainThread) watch();

function watch(): void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let before = processorTime();
  let longestWork = 0;
  // Comes once in every turn of the loop that is longer.
  setInterval(() => {
    const now = processorTime();
    longestWork = Math.max(longestWork, now - before);
    before = now;
  }, resolution).unref();
  process.on('message', () => {
    const longestBlock = Math.max(0, delay.max / 1e6 - resolution);
    const report = { longestBlock, longestWork };
    (globalThis as { gc?: () => void }).gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send!({ ...report, rss, inUse: heapUsed + external });
    delay.reset();
    longestWork = 0;
    before = processorTime();
  });
  process.channel!.unref();
}

/** Of this thread, in ms. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
