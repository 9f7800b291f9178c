import { expect, test } from 'vitest';
import { Coalescer } from '../../core/base/coalescer.ts';
import { Emitter } from '../../core/base/emitter.ts';
import { KeyedMutex } from '../../core/base/keyed-mutex.ts';
import { pasteable } from '../../core/base/pasteable.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('an emitter calls the other handlers if one throws', () => {
  const errors: unknown[] = [];
  const received: number[] = [];
  const emitter = new Emitter<{ count: number }>((error) => errors.push(error));
  emitter.on('count', () => {
    throw new Error('broken');
  });
  const stop = emitter.on('count', (count) => received.push(count));
  emitter.emit('count', 1);
  stop();
  emitter.emit('count', 2);
  expect(received).toEqual([1]);
  expect(errors).toHaveLength(2);
});

test('a coalescer answers all requests during a run by one more run', async () => {
  let runs = 0;
  const coalescer = new Coalescer(async () => {
    runs += 1;
    await tick();
    if (runs === 3) throw new Error('broken');
  });
  const first = coalescer.request();
  expect(coalescer.isRunning).toBe(true);
  await Promise.resolve();
  await Promise.all([first, coalescer.request(), coalescer.request()]);
  expect(runs).toBe(2);
  expect(coalescer.isRunning).toBe(false);
  await expect(coalescer.request()).rejects.toThrow('broken');
  await coalescer.request();
  expect(runs).toBe(4);
});

test('a coalescer may request itself at the start of its work', async () => {
  let runs = 0;
  const coalescer: Coalescer = new Coalescer(async () => {
    runs += 1;
    if (runs === 1) void coalescer.request();
    await tick();
  });
  await coalescer.request();
  expect(runs).toBe(2);
});

test('a keyed mutex runs the work of a key in order, also after a failure', async () => {
  const log: string[] = [];
  const mutex = new KeyedMutex();
  const work = (name: string) => async () => {
    log.push(`${name} starts`);
    await tick();
    log.push(`${name} ends`);
    if (name === 'a') throw new Error('broken');
  };
  const results = await Promise.allSettled([
    mutex.run('run', work('a')),
    mutex.run('run', work('b')),
    mutex.run('other', work('c')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(log.filter((line) => !line.startsWith('c'))).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
  expect(log.indexOf('c starts')).toBeLessThan(log.indexOf('a ends'));
});

test('commands in a hint become commands that can be pasted', () => {
  const hint = 'Run `starpo` or `starpo show x`. `starpo-trainer selftest` and starpo runs stay.';
  expect(pasteable(hint, 'npm run --silent starpo --')).toBe(
    'Run `npm run --silent starpo --` or `npm run --silent starpo -- show x`. `starpo-trainer selftest` and starpo runs stay.',
  );
  expect(pasteable(hint, 'starpo')).toBe(hint);
});
