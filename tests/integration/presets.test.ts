import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { algorithms } from '../../core/presets/algorithms.ts';
import { type Preset, presets } from '../../core/presets/presets.ts';
import { applySettings } from '../../core/run-config/settings.ts';
import { trainTinyPolicy } from './tiny-run.ts';
import { finalEvents, readJournal, spawnTrainer, temporaryHome } from './trainer-process.ts';

const home = temporaryHome();
// A model whose rewards differ, so every filter keeps some groups.
let model: string;
beforeAll(async () => {
  model = await trainTinyPolicy(home);
});
const trainable = presets.filter((preset) => preset.model === null && !preset.hidden);

const environmentsOf = ({ config }: Preset) => config.environments.map(({ type }) => type).join('+');

/** One preset per algorithm, preferably of one task, and one per environment. */
const chosen = new Set<Preset>([
  ...algorithms.map(({ suffix }) => trainable.find(({ id }) => id === `starter-frozen-lake-${suffix}`)!),
  ...trainable.filter(
    (preset, at) => trainable.findIndex((each) => environmentsOf(each) === environmentsOf(preset)) === at,
  ),
]);

test.concurrent.for([...chosen].map((preset) => [preset.id, preset] as const))(
  '%s trains two iterations',
  async ([id, { config }], { onTestFinished }) => {
    const folder = join(home, id);
    mkdirSync(folder);
    const tiny = {
      ...{ 'start.model': model, iterations: 2, threads: 1 },
      ...{ 'rollout.groups': 4, 'rollout.group_size': 4, 'rollout.max_response_tokens': 32 },
      ...{ 'policy_loss.mini_batch': 4, 'evaluation.levels': 4, 'diagnostics.every': 0, 'filter.keep': 0.5 },
    };
    writeFileSync(join(folder, 'run.json'), JSON.stringify(applySettings({ ...config }, tiny)));
    // Not `train`: in concurrent tests, only this test's own onTestFinished ends this test's trainer.
    const child = spawnTrainer(folder);
    onTestFinished(() => void child.kill('SIGKILL'));
    expect((await once(child, 'exit'))[0]).toBe(0);
    const iteration = finalEvents(readJournal(folder)).get('iteration 2');
    expect(iteration?.metrics).toMatchObject({
      'actor/loss': expect.any(Number),
      'actor/grad_norm': expect.any(Number),
    });
    expect('critic/loss' in iteration!.metrics!).toBe(config.critic.model !== 'none');
  },
);
