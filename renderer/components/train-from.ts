import type { ModelEntry, PresetCard } from '../../core/contract/contract.ts';
import type { Route } from '../base/routes.ts';

/** Number of parameters below which a model trains in minutes on a CPU. */
export const smallModel = 2e7;

export const modelSources: Record<ModelEntry['source'], string> = {
  starter: 'included with the app',
  downloaded: 'downloaded',
  added: 'local folder',
  cache: 'Hugging Face cache',
};

/** Returns the form for a run with this model, based on its own preset or one for its size; null if it can't be trained. */
export function trainFrom(
  { name, folder, source, parameters, problem }: ModelEntry,
  presets: readonly PresetCard[],
): Extract<Route, { page: 'new' }> | null {
  const published = presets.find(({ model }) => model?.name === name) ?? presets.find(({ model }) => model);
  const preset = (parameters ?? 0) < smallModel ? presets.find(({ model }) => !model) : published;
  if (problem || !preset) return null;
  const set: Record<string, string> = source === 'starter' ? {} : { 'start.model': folder };
  return { page: 'new', from: { preset: preset.id }, set };
}
