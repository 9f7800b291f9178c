import type { Sampling } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { Policy } from './policy.ts';
import { sampleToken } from './sampler.ts';

export interface GenerateRequest {
  /** Ids since the previous response, whose last id is included: the policy has not read it yet. With `restart`, all ids. */
  ids: number[];
  /** Clear the KV cache first. */
  restart: boolean;
  stopIds: readonly number[];
  maxTokens: number;
  sampling: Sampling;
}

/** Interval in ms between updates of a response in progress. */
const interval = 50;

/** Samples a response up to its first stop id, which is included, or to the limit. `onIds` receives the ids so far. Throws the signal's reason, or `policy_failed` if the cache was lost. */
export async function generate(
  policy: Policy,
  { ids, restart, stopIds, maxTokens, sampling }: GenerateRequest,
  onIds: (ids: readonly number[]) => void,
  signal: AbortSignal,
): Promise<number[]> {
  if (restart) policy.clear();
  else if (policy.length === 0)
    throw new Failure('policy_failed', 'The thread that runs the policy was restarted.', 'Start the agent again.');
  const response: number[] = [];
  let unread = ids;
  let updatedAt = 0;
  for (;;) {
    signal.throwIfAborted();
    const id = sampleToken(await policy.read(unread), sampling, Math.random());
    response.push(id);
    if (stopIds.includes(id) || response.length === maxTokens) return response;
    unread = [id];
    if (performance.now() - updatedAt < interval) continue;
    updatedAt = performance.now();
    onIds(response);
  }
}
