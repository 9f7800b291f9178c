import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { Liveness } from '../../core/run-sync/liveness.ts';
import type { Trainer } from '../../core/trainer/trainer.ts';

test('checking sixty runs of other hosts starts at most two processes at once, and a dead pid starts none', async () => {
  let [active, most, requests] = [0, 0, 0];
  const status = async () => {
    requests += 1;
    most = Math.max(most, ++active);
    await new Promise((resolve) => setImmediate(resolve));
    active -= 1;
    if (requests === 3) throw new Error('the trainer is missing');
    return { running: requests % 2 === 0, pid: null };
  };
  const liveness = new Liveness({ status } as unknown as Trainer, '/nowhere');
  const row = (index: number, pid: number | null, host: string) => ({ id: `run-${index}`, pid, host });
  const remote = Array.from({ length: 60 }, (_, index) => liveness.isRunning(row(index, 1, 'elsewhere')));
  const answers = await Promise.all(remote);
  expect(answers).toHaveLength(60);
  expect(new Set(answers)).toEqual(new Set([true, false]));
  expect(requests).toBe(60);
  expect(most).toBeLessThanOrEqual(2);

  const dead = spawnSync(process.execPath, ['--version']).pid;
  expect(await liveness.isRunning(row(0, dead, hostname()))).toBe(false);
  expect(requests).toBe(60);
});
