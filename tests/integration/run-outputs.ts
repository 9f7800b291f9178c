import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { finalEvents, readJournal, sha256, steadyMetrics } from './trainer-process.ts';

/** Outputs of a run by name: its steady metrics, and the parts of its files below. */
export type Outputs = Record<string, unknown>;

interface Episode {
  seed: number;
  prompt_text: string;
  initial: string;
  kept: boolean;
  steps: {
    response: string;
    context_ids: string;
    executed: { board: string; reward: number }[];
    tokens: { advantages?: string; values?: string };
  }[];
}

/** Returns the outputs of a run. The folder must have no other files than those that the trainer wrote. */
export function outputsOf(folder: string): Outputs {
  const events = readJournal(folder);
  const final = [...finalEvents(events).values()];
  const last = (type: string) => final.findLast((event) => event.type === type);
  const trained = episodesOf(folder, (split) => split === '000001-train');
  const evaluated = episodesOf(folder, (split) => !split.endsWith('-train'));
  const checkpoint = join(folder, String(last('checkpoint')?.path));
  const steps = trained.flatMap((episode) => episode.steps);
  const started = events.find(({ type }) => type === 'started');
  const plan = events.find(({ type }) => type === 'memory_plan');
  return {
    ...Object.assign({}, ...final.filter(({ metrics }) => metrics).map(steadyMetrics)),
    files: filesOf(folder),
    log: events.filter(({ type }) => type === 'log').map(({ message }) => message),
    'memory plan': plan?.parts,
    started: started && [started.device, started.threads],
    levels: trained.map(({ seed }) => seed),
    prompts: trained.map(({ prompt_text }) => prompt_text),
    contexts: steps.map(({ context_ids }) => context_ids),
    responses: steps.map(({ response }) => response),
    boards: steps.map(({ executed }) => executed),
    kept: trained.map(({ kept }) => kept),
    advantages: steps.map(({ tokens }) => tokens.advantages),
    values: steps.map(({ tokens }) => tokens.values),
    'evaluated levels': evaluated.map(({ seed }) => seed),
    'evaluated responses': evaluated.flatMap((episode) => episode.steps.map(({ response }) => response)),
    weights: sha256(join(checkpoint, 'model.safetensors')),
    'trainer state': sha256(join(checkpoint, 'trainer-state.safetensors')),
  };
}

const filesOf = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();

function episodesOf(folder: string, isIncluded: (name: string) => boolean): Episode[] {
  const rollouts = join(folder, 'rollouts');
  const indexes = readdirSync(rollouts).filter((name) => name.endsWith('.index.json'));
  return indexes.sort().flatMap((name) => {
    const split = name.replace('.index.json', '');
    if (!isIncluded(split)) return [];
    const { episodes } = JSON.parse(readFileSync(join(rollouts, name), 'utf8'));
    const file = readFileSync(join(rollouts, `${split}.jsonl.zst`));
    return episodes.map(({ offset, length }: { offset: number; length: number }) =>
      JSON.parse(zstdDecompressSync(file.subarray(offset, offset + length)).toString()),
    );
  });
}
