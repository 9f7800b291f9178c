import { ChildProcess } from 'node:child_process';
import { afterEach, expect, test, vi } from 'vitest';
import { GpuMonitor } from '../../core/system/gpu-monitor.ts';
import { EnvironmentProcess } from '../../core/trainer/environment.ts';
import { launchEvaluation } from '../../core/trainer/evaluate.ts';

afterEach(() => void vi.restoreAllMocks());

const missing = '/nowhere/no-such-program';

test('a program that could not be started is sent no signal, which would meet other processes', async () => {
  // Nothing may be sent in earnest, should this fail.
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
  new GpuMonitor(1, missing).close();
  const game = new EnvironmentProcess(missing, 'bandit', {}, undefined);
  const asked = game.reset(1);
  game.close();
  const evaluation = launchEvaluation(missing, '/nowhere', {}, () => {});
  evaluation.cancel();
  expect(kill).not.toHaveBeenCalled();
  await expect(asked).rejects.toMatchObject({ code: 'game_unknown' });
  await expect(evaluation.begun).rejects.toMatchObject({ code: 'trainer_unusable' });
  await expect(evaluation.ended).rejects.toMatchObject({ code: 'trainer_unusable' });
});

test('one that was started is ended', async () => {
  const kill = vi.spyOn(ChildProcess.prototype, 'kill');
  new GpuMonitor(1, process.execPath).close();
  expect(kill).toHaveReturnedWith(true);
});
