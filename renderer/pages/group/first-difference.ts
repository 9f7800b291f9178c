/** An episode's reward, and its actions by frame; the first frame has none. */
interface Played {
  reward: number;
  /** Set if the environment or the reward program failed. Such an episode has no reward. */
  void?: unknown;
  actions: readonly (string | null)[];
}

/** Returns the index of the episode with the highest reward, the first of several. */
export function bestOf(episodes: readonly Pick<Played, 'reward' | 'void'>[]): number {
  const rewards = episodes.map((episode) => (episode.void ? Number.NEGATIVE_INFINITY : episode.reward));
  return rewards.indexOf(Math.max(...rewards));
}

/** Returns the frame of the first action that differs from another episode's; null if all of them are the same. */
export function firstDifference(actions: Played['actions'], others: Played['actions']): number | null {
  const index = actions.findIndex((action, frame) => action !== (others[frame] ?? null));
  return index < 0 ? null : index;
}
