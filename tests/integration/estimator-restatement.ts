/** Direct implementations of the estimators in docs/algorithms.md, written from the formulas and without the trainer's code. Slow. */

export interface Turn {
  tokens: number;
  reward: number;
  state: string;
}
export interface Episode {
  group: number;
  turns: Turn[];
  values: number[];
  kl: number[];
}
export interface Settings {
  estimator: string;
  gamma: number;
  lambda: number;
  rewards: 'episode' | 'turn';
  turn_gamma: number;
  scale_by_std: boolean;
  step_weight: number;
  history: number;
  history_exponent: number;
  episode_term: boolean;
}

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
const mean = (numbers: number[]) => sum(numbers) / numbers.length;
const variance = (numbers: number[], divisor: number) =>
  sum(numbers.map((each) => (each - mean(numbers)) ** 2)) / divisor;
const near = (a: number, b: number) => Math.abs(a - b) < 1e-9;
const allEqual = (numbers: number[]) => numbers.every((each) => near(each, numbers[0]!));

const score = (episode: Episode) => sum(episode.turns.map(({ reward }) => reward));
const rewardOf = (episode: Episode, turn: number, { rewards }: Settings) =>
  rewards === 'turn' ? episode.turns[turn]!.reward : turn === episode.turns.length - 1 ? score(episode) : 0;

/** Turn and position within the turn of each token. */
const tokensOf = (episode: Episode) =>
  episode.turns.flatMap(({ tokens }, turn) =>
    Array.from({ length: tokens }, (_, position) => ({ turn, first: position === 0, last: position === tokens - 1 })),
  );

function rewardsOf(episode: Episode, settings: Settings, klCoefficient: number): number[] {
  return tokensOf(episode).map(
    ({ turn, last }, t) => (last ? rewardOf(episode, turn, settings) : 0) - klCoefficient * episode.kl[t]!,
  );
}

/** Generalized advantage estimation as a double sum: A_i = sum over j >= i of (gamma lambda)^(j - i) delta_j. */
const gae = (rewards: number[], values: number[], gamma: number, lambda: number) =>
  rewards.map((_, i) =>
    sum(
      rewards
        .map((reward, j) => (gamma * lambda) ** (j - i) * (reward + gamma * (values[j + 1] ?? 0) - values[j]!))
        .slice(i),
    ),
  );

const difference = (own: number, all: number[], scaled: boolean, divisor: number) =>
  all.length < 2 || allEqual(all) ? 0 : (own - mean(all)) / (scaled ? Math.sqrt(variance(all, divisor)) + 1e-6 : 1);

function returnOf(episode: Episode, from: number, settings: Settings): number {
  return sum(
    episode.turns
      .map((_, turn) => settings.turn_gamma ** (turn - from) * rewardOf(episode, turn, settings))
      .slice(from),
  );
}

function turnAdvantage(episodes: Episode[], own: Episode, turn: number, settings: Settings): number {
  const group = episodes.filter((episode) => episode.group === own.group);
  const scores = group.map(score);
  const others = group.filter((episode) => episode !== own).map(score);
  switch (settings.estimator) {
    case 'grpo':
      return difference(score(own), scores, true, scores.length - 1);
    case 'dr_grpo':
      return difference(score(own), scores, false, 1);
    case 'rloo':
      return others.length === 0 ? score(own) : allEqual(scores) ? 0 : score(own) - mean(others);
    case 'loop':
      return others.length === 0 || allEqual(scores) ? 0 : score(own) - mean(others);
    case 'maxrl':
      return mean(scores) <= 1e-9 * Math.max(1, ...scores.map(Math.abs)) || allEqual(scores)
        ? 0
        : (score(own) - mean(scores)) / mean(scores);
    case 'gigpo': {
      const state = own.turns[turn]!.state;
      const same = group.flatMap((episode) =>
        episode.turns.flatMap((each, k) => (each.state === state ? [returnOf(episode, k, settings)] : [])),
      );
      return (
        difference(score(own), scores, settings.scale_by_std, scores.length - 1) +
        settings.step_weight * difference(returnOf(own, turn, settings), same, settings.scale_by_std, same.length - 1)
      );
    }
    case 'hgpo': {
      const items: { value: number; weight: number }[] = [];
      const weigh = (k: number) => (k + 1) ** settings.history_exponent;
      if (settings.episode_term) {
        const all = group.flatMap((episode) => episode.turns.map(() => score(episode)));
        items.push({ value: difference(score(own), all, settings.scale_by_std, all.length - 1), weight: weigh(0) });
      }
      const past = (episode: Episode, at: number, k: number) =>
        JSON.stringify(episode.turns.slice(at - k + 1, at + 1).map(({ state }) => state));
      for (let k = 1; k <= Math.min(settings.history, turn) + 1; ++k) {
        const same = group.flatMap((episode) =>
          episode.turns.flatMap((_, at) =>
            at >= k - 1 && past(episode, at, k) === past(own, turn, k) ? [returnOf(episode, at, settings)] : [],
          ),
        );
        const value = difference(returnOf(own, turn, settings), same, settings.scale_by_std, same.length);
        items.push({ value, weight: weigh(k) });
      }
      const used = items.filter(({ value }) => Math.abs(value) > 1e-9);
      const weights = sum(used.map(({ weight }) => weight));
      return sum(used.map(({ value, weight }) => (value * weight) / (weights + 1e-6)));
    }
    default:
      throw new Error(`no restatement of ${settings.estimator}`);
  }
}

export interface Result {
  advantages: number[];
  targets: number[] | null;
  mask: boolean[] | null;
}

export function restate(episodes: Episode[], own: Episode, settings: Settings, klCoefficient: number): Result {
  const tokens = tokensOf(own);
  const rewards = rewardsOf(own, settings, klCoefficient);
  const { gamma, lambda, turn_gamma } = settings;
  const everywhere = tokens.map(() => true);
  const plus = (a: number[], b: number[]) => a.map((each, i) => each + b[i]!);
  switch (settings.estimator) {
    case 'gae': {
      const advantages = gae(rewards, own.values, gamma, lambda);
      return { advantages, targets: plus(advantages, own.values), mask: everywhere };
    }
    case 'bi_level_gae': {
      const ends = tokens.flatMap(({ last }, t) => (last ? [t] : []));
      const endValues = ends.map((t) => own.values[t]!);
      const high = gae(
        ends.map((t) => rewards[t]!),
        endValues,
        turn_gamma,
        lambda,
      );
      const advantages = own.turns.flatMap((_, k) => {
        const [from, to] = [k === 0 ? 0 : ends[k - 1]! + 1, ends[k]! + 1];
        const low = rewards.slice(from, to);
        low[low.length - 1] = high[k]! + endValues[k]!;
        return gae(low, own.values.slice(from, to), gamma, lambda);
      });
      return { advantages, targets: plus(advantages, own.values), mask: everywhere };
    }
    case 'trajectory_baseline': {
      const total = score(own) - klCoefficient * sum(own.kl);
      return {
        advantages: tokens.map(() => total - own.values[0]!),
        targets: tokens.map(() => total),
        mask: tokens.map((_, t) => t === 0),
      };
    }
    case 'turn_baseline': {
      const starts = tokens.flatMap(({ first }, t) => (first ? [t] : []));
      const values = starts.map((t) => own.values[t]!);
      const byTurn = own.turns.map((_, k) => sum(rewards.filter((_, t) => tokens[t]!.turn === k)));
      const high = gae(byTurn, values, turn_gamma, lambda);
      return {
        advantages: tokens.map(({ turn }) => high[turn]!),
        targets: tokens.map(({ turn }) => high[turn]! + values[turn]!),
        mask: tokens.map(({ first }) => first),
      };
    }
    case 'reinforce_plus_plus':
      return {
        advantages: rewards.map((_, i) => sum(rewards.map((reward, j) => gamma ** (j - i) * reward).slice(i))),
        targets: null,
        mask: null,
      };
    default: {
      const penalties = own.kl.map((_, i) =>
        sum(own.kl.map((kl, j) => gamma ** (j - i) * -klCoefficient * kl).slice(i)),
      );
      const advantages = tokens.map(({ turn }, t) => turnAdvantage(episodes, own, turn, settings) + penalties[t]!);
      return { advantages, targets: null, mask: null };
    }
  }
}

/** Advantages of `dr_grpo` on scores whose terms are normalized in their group, whitened over tokens or episodes. */
export function restateNormalizedTerms(
  episodes: { group: number; turns: { tokens: number; terms: Record<string, number> }[] }[],
  weights: Record<string, number>,
  { whiten, whiten_over }: { whiten: boolean; whiten_over: string },
): number[][] {
  const termOf = (episode: (typeof episodes)[number], name: string) =>
    sum(episode.turns.map(({ terms }) => terms[name] ?? 0));
  const scores = episodes.map((own) => {
    const group = episodes.filter((episode) => episode.group === own.group);
    return sum(
      Object.entries(weights).map(([name, weight]) => {
        const all = group.map((episode) => termOf(episode, name));
        return weight * difference(termOf(own, name), all, true, all.length - 1);
      }),
    );
  });
  const lengths = episodes.map(({ turns }) => sum(turns.map(({ tokens }) => tokens)));
  const counted = scores.flatMap((score, i) => Array<number>(whiten_over === 'tokens' ? lengths[i]! : 1).fill(score));
  const scale = Math.sqrt(variance(counted, counted.length - 1) + 1e-8);
  return scores.map((score, i) => Array<number>(lengths[i]!).fill(whiten ? (score - mean(counted)) / scale : score));
}
