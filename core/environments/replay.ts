import type { Frame, Replay, ReplayTurn } from '../contract/contract.ts';
import { episodeSummary } from '../contract/episodes.ts';
import { metricTitle } from '../contract/metric-titles.ts';
import type { Episode, EpisodeActions, EpisodeStep } from '../run-directory/episode.ts';
import { float16Array, float32Array, mean } from '../run-directory/token-arrays.ts';
import { actionFrames } from './frames.ts';
import { findEnvironment } from './registry.ts';

/** Converts an episode into frames and turns for the player. */
export function toReplay(episode: Episode): Replay {
  return {
    summary: episodeSummary.parse(episode),
    type: episode.type,
    config: episode.config,
    arms: episode.arms ?? null,
    prompt: episode.prompt_text,
    frames: toFrames(episode),
    turns: episode.steps.map(toTurn),
  };
}

/** Returns an episode's frames. Unknown environments show the recorded states. */
export function toFrames(episode: EpisodeActions): Frame[] {
  return (findEnvironment(episode.type)?.frames ?? actionFrames)(episode);
}

function toTurn(step: EpisodeStep, index: number): ReplayTurn {
  const logprobs = float32Array(step.tokens.logprobs);
  return {
    state: step.state,
    omittedTokens: step.omitted_tokens,
    beginsContext: index > 0 && step.begins_context,
    response: step.response,
    think: step.think,
    answer: step.answer,
    actions: step.actions,
    formatValid: step.format_valid,
    reward: step.reward,
    penalty: step.penalty,
    terms: otherTerms(step),
    claims: checkedClaims(step),
    tokens: logprobs.length,
    logprobMean: mean(logprobs),
    entropyMean: mean(float16Array(step.tokens.entropies)),
  };
}

/** Returns the terms of a turn's score besides the environment's reward and the penalty. */
const otherTerms = ({ terms = {} }: EpisodeStep): ReplayTurn['terms'] =>
  Object.entries(terms)
    .filter(([name, value]) => name !== 'environment' && name !== 'format' && value !== 0)
    .map(([name, value]) => ({ title: metricTitle(`rollout/reward_term/${name}`), value }));

/** Converts positions from characters to indices of a JavaScript string. */
function checkedClaims({ claims, think }: EpisodeStep): ReplayTurn['claims'] {
  if (!claims || claims.checked === 0 || think === null) return null;
  const characters = [...think];
  const index = (at: number) => characters.slice(0, at).join('').length;
  return {
    checked: claims.checked,
    false: claims.false.map(({ start, end, fact }) => ({ start: index(start), end: index(end), fact })),
  };
}
