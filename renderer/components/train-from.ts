import type { ModelEntry, PresetCard } from '../../core/contract/contract.ts';
import type { Route } from '../base/router.ts';

/** Parameters below which a processor trains a model in minutes. */
export const smallModel = 2e7;

export const modelSources: Record<ModelEntry['source'], string> = {
  starter: 'comes with the app',
  downloaded: 'downloaded',
  added: 'your folder',
  cache: 'Hugging Face cache',
};

/** The form of a run that begins from a model: with the settings of its own presets, or of models of its size. Null where none can. */
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
