import type { Handlers, PresetCard } from '../contract/contract.ts';
import type { Core } from '../index.ts';
import { configForm } from '../presets/form.ts';
import { presets } from '../presets/presets.ts';
import { createAndLaunch } from '../queue/create-and-launch.ts';
import { checkConfig, keyed, titled } from '../runs/check-config.ts';
import { extensionOf } from '../runs/extend.ts';
import { loadConfig } from '../runs/load-config.ts';
import { previewConfig } from '../runs/preview-config.ts';

/** Handlers for creating runs: presets, the configuration form, and extending a completed run. */
export function configurationHandlers(
  core: Core,
): Pick<
  Handlers,
  'presets.list' | 'configs.form' | 'configs.load' | 'configs.check' | 'configs.preview' | 'runs.trainMore'
> {
  return {
    'presets.list': () => presetCards(core),
    'configs.form': () => configForm,
    'configs.load': (source) => loadConfig(core, source),
    'configs.check': ({ titles, ...newRun }) => checkConfig(core, newRun, titles ? titled : keyed),
    'configs.preview': (newRun) => previewConfig(core, newRun),
    'runs.trainMore': async ({ runId, iterations, start, queue }) => {
      const extension = extensionOf(core.home, core.runs.get(runId), iterations);
      const forkId = await createAndLaunch(core, extension, { start, queue });
      return { runId: forkId, optimizerKept: extension.keepOptimizer };
    },
  };
}

function presetCards({ times }: Core): PresetCard[] {
  const estimate = times.estimator();
  return presets
    .filter((preset) => !preset.hidden)
    .map(({ config, hidden: _, ...card }) => ({
      ...card,
      environments: config.environments.map(({ type, config }) => ({ type, config })),
      device: config.device,
      iterations: config.iterations,
      first: {
        iterations: config.iterations,
        seed: config.seed,
        'optimizer.learning_rate': config.optimizer.learning_rate,
        'rollout.groups': config.rollout.groups,
      },
      time: estimate(config),
    }));
}
