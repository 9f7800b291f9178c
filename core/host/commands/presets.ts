import type { Client } from '../../contract/client.ts';
import type { PresetCard, RunSummary } from '../../contract/contract.ts';
import { durationText, print } from '../output.ts';
import { withClient } from './with-client.ts';

interface Options {
  home?: string;
  json?: boolean;
  all?: boolean;
}

/** Fewer iterations say too little of a run's pace. */
const leastIterations = 3;

/** Lists what can be trained: what one sees, what to expect, and how long it takes on this machine where a run of it has told. */
export async function listPresets({ home, json, all }: Options): Promise<void> {
  const ask = async (client: Client) => {
    const cards = await client.call('presets.list', {});
    const runs = await client.call('runs.list', {});
    const shown = all ? cards : cards.filter(isDefault);
    return {
      hidden: cards.length - shown.length,
      presets: await Promise.all(
        shown.map(async (card) => ({ ...card, seconds: await secondsOf(client, card, runs) })),
      ),
    };
  };
  const { hidden, presets } = await withClient(home, ask, { repeatable: true });
  if (json) return print(JSON.stringify(presets, null, 2));
  for (const preset of presets) print(describe(preset));
  if (hidden > 0) print(`${hidden} more with other algorithms: \`starpo presets --all\``);
  print('Train one: `starpo train PRESET`. Times are those of your own runs on this machine.');
}

/** Of the presets of a task, which differ in their algorithm alone, the one that people meet first. */
const isDefault = (card: PresetCard, _: number, cards: readonly PresetCard[]) =>
  card.alias !== null || cards.every(({ id, task }) => task !== card.task || id === card.id);

/** Seconds that all iterations take at the pace of the newest run of a preset; null where there is none. */
async function secondsOf(
  client: Client,
  { id, iterations }: PresetCard,
  runs: readonly RunSummary[],
): Promise<number | null> {
  const run = runs.find(({ preset, iteration }) => preset === id && iteration >= leastIterations);
  if (!run) return null;
  const [times] = await client.call('runs.series', { runId: run.id, names: ['time/iteration'] });
  if (!times || times.values.length < leastIterations) return null;
  return (iterations * times.values.reduce((sum, value) => sum + value, 0)) / times.values.length;
}

function describe(preset: PresetCard & { seconds: number | null }): string {
  const { id, alias, title, model, algorithm, iterations, summary, expects, deviceBytes, seconds } = preset;
  const facts = [
    model === null ? title : `${title} with ${model.title}`,
    algorithm,
    `${iterations} iterations`,
    ...(seconds === null ? [] : [`about ${durationText(seconds)}`]),
    ...(deviceBytes === null ? [] : [`needs an NVIDIA GPU with ${Math.ceil(deviceBytes / 1e9)} GB`]),
  ];
  return `${alias ?? id}\n  ${facts.join(', ')}\n  ${summary}\n  Expect ${expects}.\n`;
}
