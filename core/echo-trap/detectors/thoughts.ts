import {
  againstStart,
  baselineOf,
  type Detector,
  high,
  low,
  peakOf,
  smooth,
  smoothLevelled,
} from '../detector.ts';

/** What thoughts and first moves say of their boards. */

/** One line of thought for every board: RAGEN's Echo Trap in its plainest form, and RAGEN-2's template collapse. */
export const templateSpreads: Detector = {
  name: 'template_spreads',
  title: 'One thought for every board',
  meaning:
    'Nearly all episodes begin with the same thought, whatever the board: thinking no longer helps to choose.',
  stage: 'early',
  regime: 'template',
  family: 'thoughts',
  read(view, memory) {
    const series = 'rollout/template_share';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    // A run that begins with a template can't be judged by it.
    const threshold = Math.max(view.thresholds.template_share, Math.min(1, baseline + 0.1));
    return high(view, series, value, Math.min(baseline, threshold), threshold);
  },
};

/** The end of it: from here no setting is known to bring variety back. */
export const oneThought: Detector = {
  name: 'one_thought',
  title: 'Only one thought is left',
  meaning:
    'For many iterations all episodes have begun with one and the same thought: variety is gone, and it hardly ever returns.',
  stage: 'early',
  regime: 'template',
  family: 'thoughts',
  allOrNothing: true,
  onAfter: ({ one_thought_for }) => one_thought_for,
  read(view, memory) {
    const series = 'rollout/template_share';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    return high(view, series, value, Math.min(baseline, 0.9), view.thresholds.one_thought);
  },
};

/** For runs whose episodes aren't at hand: the share of different thoughts within a group. */
export const thoughtsAlike: Detector = {
  name: 'thoughts_alike',
  title: 'Thoughts become alike',
  meaning:
    'The episodes of a group begin with the same few thoughts: the variety that learning feeds on is going.',
  stage: 'early',
  regime: 'template',
  family: 'thoughts',
  read(view, memory) {
    const series = 'rollout/distinct_first_thoughts';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    return low(view, series, value, baseline, Math.min(view.thresholds.distinct_thoughts, 0.8 * baseline));
  },
};

/** RAGEN-2: I(X;Z) falls while H(Z|X) may look healthy. */
export const thoughtsLoseBoard: Detector = {
  name: 'thoughts_lose_board',
  title: 'Thoughts say nothing of their board',
  meaning: 'From a thought one can no longer tell which board it is about, however varied it reads.',
  stage: 'early',
  regime: 'template',
  family: 'thoughts',
  uncounted: true,
  onAfter: () => 1,
  read(view, memory) {
    const series = 'diagnostics/mutual_information';
    const ceiling = smooth(view, 'diagnostics/mutual_information_ceiling', 3);
    const value = smooth(view, series, 3) / ceiling;
    const baseline = peakOf(memory, 'peak', value);
    if (!Number.isFinite(value) || !(baseline > view.thresholds.mutual_information)) return null;
    return low(view, series, value, baseline, view.thresholds.mutual_information);
  },
};

/** I(a; board) of the first move, in nats: it falls where even the moves stop looking. */
export const movesLoseBoard: Detector = {
  name: 'moves_lose_board',
  title: 'Moves stop looking at the board',
  meaning: 'The first move depends less and less on the board: the policy plays one plan everywhere.',
  stage: 'early',
  regime: 'template',
  family: 'moves',
  read(view, memory) {
    const series = 'rollout/first_action_dependence';
    const value = smooth(view, series, 2 * view.thresholds.window);
    const baseline = peakOf(memory, 'peak', value);
    // Below 0.1 nats there was nothing to lose.
    if (Number.isNaN(value) || !(baseline > 0.1)) return null;
    return low(view, series, value, baseline, view.thresholds.move_dependence * baseline);
  },
};

export const thoughtsShorten: Detector = {
  name: 'thoughts_shorten',
  title: 'Thoughts shorten',
  meaning: 'Thoughts are much shorter than they were: what they said of the board is being left out.',
  stage: 'early',
  regime: 'template',
  family: 'form',
  later: true,
  read: againstStart('rollout/think_tokens', ({ thought_length }) => thought_length),
};

/** Of the tokens after the thought, where the move is chosen: it may rise while thoughts become sure, and then the thought no longer decides. */
export const movesScatter: Detector = {
  name: 'moves_scatter',
  title: 'Moves are drawn by chance',
  meaning: 'Behind the same thought the policy chooses its moves more and more by chance.',
  stage: 'early',
  regime: null,
  family: 'moves',
  later: true,
  read: againstStart('rollout/answer_entropy', ({ entropy_high }) => entropy_high),
};

/** Against the run's own shortest: a run that learns needs fewer turns, and one that is about to fall wanders first. */
export const episodesGrow: Detector = {
  name: 'episodes_grow',
  title: 'Episodes take more turns',
  meaning:
    'The policy needs more turns than it once did: it wanders before it gets there, while it still does.',
  stage: 'early',
  regime: null,
  family: 'moves',
  later: true,
  read(view, memory) {
    const series = 'rollout/turns';
    const value = smoothLevelled(view, memory, series, 2 * view.thresholds.window);
    const fewest = -peakOf(memory, 'fewest', -value);
    if (Number.isNaN(value) || !(fewest > 0)) return null;
    return high(view, series, value, fewest, view.thresholds.episode_growth * fewest);
  },
};
