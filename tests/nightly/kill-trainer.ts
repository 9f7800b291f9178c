import { deepStrictEqual } from 'node:assert';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endState, killAtRandomMoment } from '../integration/killing.ts';
import { newTinyRun, sameRun } from '../integration/tiny-run.ts';
import { spawnTrainer } from '../integration/trainer-process.ts';

async function train(folder: string) {
  const [status] = await once(spawnTrainer(folder), 'exit');
  deepStrictEqual(status, 0, `${folder} did not complete`);
}

/**
 * Kills trainers until the count is reached and compares each run's final state with an undisturbed one. Returns kills per phase.
 * Throws if a run differs and leaves its folder.
 */
export async function killTrainer(kills: number, random: () => number) {
  const home = mkdtempSync(join(tmpdir(), 'starpo-'));
  const undisturbed = await newTinyRun(home, { iterations: 8 });
  await train(undisturbed);
  const expected = endState(undisturbed);
  const moments: Record<string, number> = {};
  let done = 0;
  let runs = 0;
  while (done < kills) {
    const killed = sameRun(undisturbed, `killed-${++runs}`);
    for (let over = false; !over && done < kills; ) {
      const moment = await killAtRandomMoment(killed, random);
      over = moment === null;
      if (moment === null) continue;
      moments[moment] = (moments[moment] ?? 0) + 1;
      done += 1;
    }
    await train(killed);
    deepStrictEqual(endState(killed), expected, `${killed} differs from ${undisturbed}`);
    rmSync(killed, { recursive: true });
  }
  rmSync(home, { recursive: true });
  return { kills: done, runs, moments: Object.fromEntries(Object.entries(moments).sort()) };
}
