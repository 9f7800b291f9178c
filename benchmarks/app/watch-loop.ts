/**
 * Loaded into a process before its own code (`node --import`): tells its parent, whenever it is asked over IPC, how long the event loop was blocked at
 * most since it was asked before, and what memory is in use after a collection.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolution = 2;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();

// Threads of the process load this too.
if (isMainThread) {
  process.on('message', () => {
    const longestBlock = Math.max(0, delay.max / 1e6 - resolution);
    delay.reset();
    (globalThis as { gc?: () => void }).gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send!({ longestBlock, rss, inUse: heapUsed + external });
  });
  process.channel!.unref();
}
