import type { PresetCard } from '../../contract/contract.ts';
import { advise, durationText, print } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Lists presets with their expected result and training time on this machine. */
export async function listPresets({ home, json, all }: CommandOptions & { all?: boolean }): Promise<void> {
  const cards = await withClient(home, (client) => client.call('presets.list', {}), { repeatable: true });
  const shown = all ? cards : cards.filter(isDefault);
  if (json) return print(JSON.stringify(shown, null, 2));
  for (const preset of shown) print(describe(preset));
  const hidden = cards.length - shown.length;
  if (hidden > 0) advise(`${hidden} more with other algorithms: run \`starpo presets --all\``);
  advise('Train one with `starpo train PRESET`. Times come from your runs on this machine, or are typical values.');
}

/** Returns whether a preset is the default of its family; the others differ only in their algorithm. */
const isDefault = (card: PresetCard, _: number, cards: readonly PresetCard[]) =>
  card.alias !== null || cards.every(({ id, family }) => family !== card.family || id === card.id);

function describe(preset: PresetCard): string {
  const { id, alias, title, model, algorithm, iterations, summary, expects, deviceBytes, time } = preset;
  const facts = [
    model === null ? title : `${title} with ${model.title}`,
    algorithm,
    `${iterations} iterations`,
    ...(time === null ? [] : [`${durationText(time.low)} to ${durationText(time.high)}`]),
    ...(deviceBytes === null ? [] : [`needs an NVIDIA GPU with ${Math.ceil(deviceBytes / 1e9)} GB`]),
  ];
  return `${alias ?? id}\n  ${facts.join(', ')}\n  ${summary}\n  Expect ${expects}.\n`;
}
