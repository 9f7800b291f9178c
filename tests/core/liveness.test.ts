import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { Liveness } from '../../core/run-sync/liveness.ts';
import type { Trainer } from '../../core/trainer/trainer.ts';

test('sixty interrupted runs start few processes at once, and those whose process is gone none', async () => {
  let [now, most, asked] = [0, 0, 0];
  const status = async () => {
    asked += 1;
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    if (asked === 3) throw new Error('the trainer is missing');
    return { running: asked % 2 === 0, pid: null };
  };
  const liveness = new Liveness({ status } as unknown as Trainer, '/nowhere');
  const row = (index: number, pid: number | null, host: string) => ({ id: `run-${index}`, pid, host });
  const far = Array.from({ length: 60 }, (_, index) => liveness.isRunning(row(index, 1, 'elsewhere')));
  const answers = await Promise.all(far);
  expect(answers).toHaveLength(60);
  expect(new Set(answers)).toEqual(new Set([true, false]));
  expect(asked).toBe(60);
  expect(most).toBeLessThanOrEqual(2);

  const dead = spawnSync(process.execPath, ['--version']).pid;
  expect(await liveness.isRunning(row(0, dead, hostname()))).toBe(false);
  expect(asked).toBe(60);
});
