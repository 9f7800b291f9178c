import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WorkerThread } from '../../core/base/worker-thread.ts';
import type { OddFunctions } from './fixtures/odd-worker.ts';

const script = join(import.meta.dirname, 'fixtures/odd-worker.ts');

/** Returns a thread whose first starts fail, and the number of its starts. */
function oddThread({ failedStarts = 0 } = {}) {
  const starts = new Int32Array(new SharedArrayBuffer(4));
  const data = { starts, failedStarts };
  const options = { script, code: 'odd_failed', purpose: 'behaves oddly', data };
  return { thread: new WorkerThread<OddFunctions>(options), starts };
}

const control = (progress: (done: number) => void = () => {}) => ({
  signal: new AbortController().signal,
  progress,
});

test('a failed start rejects with its error, and the next calls start once', async () => {
  const { thread, starts } = oddThread({ failedStarts: 1 });
  await expect(thread.start()).rejects.toMatchObject({ name: 'Failure', code: 'not_ready', hint: 'Wait.' });
  const counts = [1, 2, 3].map((limit) => thread.call('count', limit, control()));
  expect(await Promise.all(counts)).toEqual([1, 2, 3]);
  expect(starts[0]).toBe(2);
  await thread.close();
});

test('progress arrives before the result, and errors keep their code', async () => {
  const { thread } = oddThread();
  const received: number[] = [];
  await thread.call(
    'count',
    3,
    control((done) => received.push(done)),
  );
  expect(received).toEqual([1, 2, 3]);
  const missing = thread.call('read', '/no such file');
  await expect(missing).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
  await thread.close();
});

test('an abort rejects its call with the reason', async () => {
  const { thread } = oddThread();
  const abort = new AbortController();
  const aborted = thread.call('wait', null, { ...control(), signal: abort.signal });
  await thread.call('count', 0, control());
  abort.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  await thread.close();
});

test('closing rejects pending and later calls, and ends even if the worker fails to close', async () => {
  const { thread } = oddThread();
  const pending = expect(thread.call('wait', null, control())).rejects.toMatchObject({ code: 'odd_failed' });
  await thread.call('count', 0, control());
  await thread.close();
  await pending;
  await expect(thread.start()).rejects.toMatchObject({ code: 'odd_failed' });
});
