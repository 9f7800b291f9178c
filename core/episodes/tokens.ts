import type { EpisodeTokens } from '../contract/contract.ts';
import type { EpisodeStep } from '../run-directory/episode.ts';
import { type RolloutPaths, readEpisode } from '../run-directory/rollouts.ts';
import { float16Array, float32Array, int32Array } from '../run-directory/token-arrays.ts';
import { readVocabulary, textsOf, type Vocabulary } from './vocabulary.ts';

/** Reads the sampled tokens of an episode. Throws `episode_unknown`, `rollout_missing` or `rollout_corrupt`. */
export async function readTokens(folder: string, paths: RolloutPaths, id: string): Promise<EpisodeTokens> {
  const { steps } = await readEpisode(folder, paths, id);
  const vocabulary = await readVocabulary(folder);
  return { turns: steps.map(({ tokens }) => turnOf(tokens, vocabulary)) };
}

function turnOf(
  { ids, logprobs, entropies, advantages, values }: EpisodeStep['tokens'],
  vocabulary: Vocabulary | null,
): EpisodeTokens['turns'][number] {
  return {
    texts: vocabulary && textsOf(vocabulary, int32Array(ids)),
    logprobs: float32Array(logprobs).map(finite),
    entropies: float16Array(entropies).map(finite),
    advantages: advantages === undefined ? null : float16Array(advantages).map(finite),
    values: values === undefined ? null : float32Array(values).map(finite),
  };
}

const finite = (value: number) => (Number.isFinite(value) ? value : null);
