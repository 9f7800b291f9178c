import { ChildProcess } from 'node:child_process';
import { afterEach, expect, test, vi } from 'vitest';
import { GpuMonitor } from '../../core/system/gpu-monitor.ts';
import { EnvironmentProcess } from '../../core/trainer/environment.ts';
import { launchEvaluation } from '../../core/trainer/evaluate.ts';

afterEach(() => void vi.restoreAllMocks());

const missing = '/nowhere/no-such-program';

test('a program that failed to start is sent no signal, which could reach other processes', async () => {
  // Mock kill, so that a failing test can't signal other processes.
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
  new GpuMonitor(1, missing).close();
  const game = new EnvironmentProcess(missing, 'bandit', {}, undefined);
  const pending = game.reset(1);
  game.close();
  const evaluation = launchEvaluation(missing, '/nowhere', {}, () => {});
  evaluation.cancel();
  expect(kill).not.toHaveBeenCalled();
  await expect(pending).rejects.toMatchObject({ code: 'game_unknown' });
  await expect(evaluation.begun).rejects.toMatchObject({ code: 'trainer_unusable' });
  await expect(evaluation.ended).rejects.toMatchObject({ code: 'trainer_unusable' });
});

test('a started program is ended', async () => {
  const kill = vi.spyOn(ChildProcess.prototype, 'kill');
  new GpuMonitor(1, process.execPath).close();
  expect(kill).toHaveReturnedWith(true);
});
