/**
 * Preloaded into a process (`node --import`). On each IPC request it reports the event loop's longest block since the last request, in wall
 * time and the thread's processor time, and memory use after garbage collection. Wall time includes waiting for other programs.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolution = 2;

// The process's threads load this too.
if (isMainThread) watch();

function watch(): void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let before = processorTime();
  let longestWork = 0;
  // Runs once per loop iteration.
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

/** Returns this thread's processor time in ms. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
