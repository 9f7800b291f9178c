import type { PlayTurn, Sampling } from '../contract/contract.ts';
import type { EpisodeProcess, TurnResult } from '../trainer/episode.ts';
import type { PolicyThread } from './policy-thread.ts';

interface AgentOptions {
  level: number;
  maxTokens: number;
  sampling: Sampling;
  signal: AbortSignal;
  /** Receives the response so far. */
  onText: (text: string) => void;
  /** Receives a finished turn. */
  onTurn: (turn: PlayTurn, result: TurnResult) => void;
}

/** Plays an episode: the policy samples tokens, and the trainer runs the environment. Throws the signal's reason. */
export async function playEpisode(
  policy: PolicyThread,
  episode: EpisodeProcess,
  { level, maxTokens, sampling, signal, onText, onTurn }: AgentOptions,
): Promise<void> {
  const start = await episode.begin(level);
  let ids = start.prompt;
  let restart = true;
  for (;;) {
    let generating = true;
    const onIds = async (partial: readonly number[]) => {
      // `respond` reports process errors.
      const text = await episode.text(partial).catch(() => null);
      if (text !== null && generating && !signal.aborted) onText(text);
    };
    const request = { ids, restart, stopIds: start.stop_ids, maxTokens, sampling };
    const response = await policy.generate(request, { signal, onIds });
    generating = false;
    const result = await episode.respond(response);
    signal.throwIfAborted();
    const last = response.at(-1)!;
    const { response: text, think, answer, actions, format_valid: formatValid } = result.turn;
    const cut = !start.stop_ids.includes(last);
    onTurn({ response: text, think, answer, actions, formatValid, tokens: response.length, cut }, result);
    if (result.ended !== null) return;
    restart = result.begins_context;
    ids = restart ? result.context : [last, ...result.context];
  }
}
