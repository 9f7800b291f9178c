import type { PanelHash } from '../contract/contract.ts';
import { count, scientific } from '../contract/numbers.ts';
import { panelsInBrackets } from '../contract/panel-words.ts';
import { listWithAnd, listWithOr } from '../contract/sentence.ts';
import { processEnvironment } from '../environments/process.ts';
import { findEnvironment } from '../environments/registry.ts';
import { settingFacts } from '../facts/setting-facts.ts';
import { typeTitle } from '../presets/environment-words.ts';
import { advantageText } from '../run-config/estimators.ts';
import { canKeepNoGroup, keptGroups } from '../run-config/filters.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { firstIteration } from '../run-config/start.ts';
import {
  canDropGroups,
  fitsMiniBatch,
  mostTrainedEpisodes,
  replaysGroups,
  takesOneStep,
} from '../run-config/trained-groups.ts';
import { type Origin, parentCheckpoint } from './origin.ts';
import type { RunRecord } from './record.ts';

/** Describes a run's training as a plain text paragraph for a paper's methods section. */
export function methodsText(
  config: RunConfig,
  origin: Origin,
  { started, points, panels }: Pick<RunRecord, 'started' | 'points' | 'panels'>,
): string {
  const reached = points.at(-1)?.iteration ?? 0;
  return [
    opening(config, origin, reached),
    ...(config.task === 'warm_start' ? [] : reinforcementTexts(config, started)),
    optimizerText(config),
    evaluationText(config, panels, reached),
    earlyStopText(config),
    machineText(config, started),
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

const reinforcementTexts = (config: RunConfig, started: RunRecord['started']) => [
  rolloutText(config),
  rewardText(config),
  filterText(config),
  advantageText(config),
  lossText(config, started),
  klText(config),
];

function environmentText({ type, config }: RunConfig['environments'][number]): string {
  const environment = findEnvironment(type);
  const unused = environment?.unusedSettings?.(config) ?? [];
  const facts =
    environment?.describe?.(config) ??
    Object.entries(config)
      .filter(([key, value]) => ['number', 'boolean'].includes(typeof value) && !unused.includes(key))
      .map(([key, value]) => {
        const title = settingFacts(`environments.0.config.${key}`, type).title.toLowerCase();
        return typeof value === 'boolean' ? `${value ? '' : 'not '}${title}` : `${title} ${value}`;
      });
  return `${typeTitle(type)}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
}

/** Returns the environments that a run trains on. The others are only evaluated. */
export const trainedEnvironments = ({ environments }: RunConfig) => environments.filter(({ share }) => share > 0);

function opening(config: RunConfig, { name }: Origin, reached: number) {
  const { task, iterations, seed } = config;
  const trained = listWithAnd(trainedEnvironments(config).map(environmentText));
  const first = firstIteration(config);
  const [done, planned] = [Math.max(reached, first) - first, iterations - first];
  const length = done < planned ? `${done} of ${count(planned, 'planned iteration')}` : count(planned, 'iteration');
  const parent = parentCheckpoint(config);
  const from =
    parent === null || parent === name ? '' : ` Training started from ${parent}, whose iterations are not counted.`;
  const variant = canDropGroups(config) ? 'StarPO-S' : 'StarPO';
  const method =
    task === 'warm_start'
      ? `by supervised learning on a solver's demonstrations of ${trained}`
      : `with multi-turn reinforcement learning (${variant}, arXiv:2504.20073) on ${trained}`;
  return `We trained ${name} ${method} for ${length} with seed ${seed}.${from}`;
}

/** Returns sampling settings as text, such as `temperature 0.5 and top-p 0.9`. */
export const samplingText = ({ temperature, top_p, top_k, min_p }: SamplingSettings) =>
  listWithAnd([
    `temperature ${temperature}`,
    ...(top_p < 1 ? [`top-p ${top_p}`] : []),
    ...(top_k > 0 ? [`top-k ${top_k}`] : []),
    ...(min_p > 0 ? [`min-p ${min_p}`] : []),
  ]);

type SamplingSettings = Pick<RunConfig['rollout'], 'temperature' | 'top_p' | 'top_k' | 'min_p'>;

function rolloutText(config: RunConfig): string {
  const { rollout, levels } = config;
  const environments = trainedEnvironments(config);
  const turns = environments.map((each) => each.max_turns);
  const actions = environments.map((each) => each.max_actions);
  const differ = new Set(turns).size > 1 || new Set(actions).size > 1;
  const limits = `up to ${count(Math.max(...turns), 'turn')} and ${count(Math.max(...actions), 'action')} per episode${differ ? ' (fewer in some environments)' : ''}`;
  const [novelty, where] = levels.pool > 0 ? ['', ` from a pool of ${levels.pool}`] : ['new ', ''];
  const sampled =
    rollout.groups === 1 ? `one ${novelty}level${where}` : `each of ${rollout.groups} ${novelty}levels${where}`;
  const format = rollout.think
    ? 'The prompt asked for reasoning, then an answer with the actions.'
    : 'The prompt asked for an answer with the actions, without reasoning.';
  const rounds =
    rollout.extra_rounds === 0
      ? ''
      : ` Up to ${rollout.extra_rounds} further ${rollout.extra_rounds === 1 ? 'round was' : 'rounds were'} sampled per iteration, to replace groups with equal rewards (dynamic sampling, arXiv:2503.14476).`;
  const context =
    rollout.context_turns === 0
      ? ''
      : ` Each response was sampled from a context of the last ${rollout.context_turns === 1 ? 'turn' : `${rollout.context_turns} turns`} and trained as a sample of that context.`;
  return `Each iteration sampled ${count(rollout.group_size, 'episode')} on ${sampled}, with ${limits} and responses of up to ${count(rollout.max_response_tokens, 'token')} at ${samplingText(rollout)}.${rounds}${context} ${format}`;
}

function rewardText(config: RunConfig): string {
  const { reward, rollout } = config;
  const checksClaims =
    rollout.think && trainedEnvironments(config).some(({ type }) => type !== processEnvironment.type);
  const penalty =
    reward.format_penalty === 0
      ? []
      : [
          `Each turn with a malformed response or an invalid action had a penalty of ${Math.abs(reward.format_penalty)}.`,
        ];
  const buffer = reward.length_buffer === 0 ? '' : `, falling to 0 over the ${reward.length_buffer} tokens before it`;
  const weights = [
    reward.environment_weight === 1 ? '' : `${reward.environment_weight} times the environment's reward`,
    reward.step_cost === 0 ? '' : `a cost of ${reward.step_cost} per action`,
    reward.success_bonus === 0 ? '' : `${reward.success_bonus} for success`,
    reward.length_cost === 0 ? '' : `a cost of ${reward.length_cost} for a response of the maximum length${buffer}`,
    reward.grounding_weight === 0 || !checksClaims
      ? ''
      : `up to ${reward.grounding_weight} for true claims about the state`,
    reward.faithfulness_weight === 0 || !checksClaims
      ? ''
      : `up to ${reward.faithfulness_weight} for acting as planned`,
    programText(reward.program),
  ].filter((text) => text !== '');
  const terms = weights.length === 0 ? [] : [`The reward included ${listWithAnd(weights)}.`];
  const methods: Record<string, string> = {
    mean: 'centered',
    mean_std: 'normalized to mean 0 and standard deviation 1',
    asymmetric_clip: 'normalized to mean 0 and standard deviation 1, then clipped to [-1, 3],',
  };
  const normalized =
    reward.normalization === 'none'
      ? []
      : [
          reward.normalize_terms
            ? `Each reward term was ${methods[reward.normalization]} within each ${reward.normalize_by}, and the terms were added with their weights (GDPO, arXiv:2601.05242).`
            : `Scores were ${methods[reward.normalization]} within each ${reward.normalize_by}.`,
        ];
  return [...penalty, ...terms, ...normalized].join(' ');
}

function programText({ command, weight }: RunConfig['reward']['program']): string {
  if (command === '' || weight === 0) return '';
  return `${weight === 1 ? '' : `${weight} times `}the terms of the program "${command}"`;
}

function filterText(config: RunConfig): string {
  const { filter, replay } = config;
  const replayed = replaysGroups(replay)
    ? ` Groups of the previous ${replay.iterations === 1 ? 'iteration' : `${replay.iterations} iterations`} were replayed and made up at most ${Math.round(100 * replay.share)} % of each update.`
    : '';
  if (!canDropGroups(config)) return `Training used all groups.${replayed}`;
  return `Training used only ${keptGroups(filter)}.${replayed}`;
}

const averages: Record<string, string> = {
  trajectory: 'averaged over the tokens of an episode and then over episodes',
  token: 'averaged over all tokens',
  trajectory_sum: 'summed over the tokens of an episode and averaged over episodes',
  fixed_length:
    'summed over the tokens of an episode, divided by the maximum possible length and averaged over episodes',
};

const ratioLevels: Record<string, string> = {
  token: 'ratios',
  turn: 'geometric mean ratios of turns',
  sequence: 'geometric mean ratios of sequences (GSPO, arXiv:2507.18071)',
  trajectory: 'ratios of whole trajectories',
};

function objectiveText({ policy_loss: loss }: RunConfig): string {
  const dual = loss.dual_clip > 0 ? `, with a dual clip at ${loss.dual_clip}` : '';
  const byTurn =
    loss.clip_turn_factor === 1 ? '' : `, with the clip range multiplied by ${loss.clip_turn_factor} per turn`;
  const bound = (value: number) => String(Number(value.toPrecision(6)));
  const limits = `${bound(1 - loss.clip_low)} and ${bound(1 + loss.clip_high)}`;
  switch (loss.objective) {
    case 'cispo':
      return `CISPO's objective (arXiv:2506.13585; weights clipped at ${limits}${byTurn})`;
    case 'sapo':
      return `SAPO's objective (arXiv:2511.20347; τ = ${loss.tau_positive} and ${loss.tau_negative})`;
    case 'dppo':
      return `DPPO's objective (arXiv:2602.04879; probabilities may fall by ${loss.clip_low} and rise by ${loss.clip_high}${byTurn})`;
    default:
      return `PPO's clipped objective (arXiv:1707.06347; ${ratioLevels[loss.ratio_level] ?? loss.ratio_level} clipped at ${limits}${dual}${byTurn})`;
  }
}

const trustRegions: Record<string, string> = {
  token: 'Tokens whose divergence',
  sequence_max: 'Sequences whose largest token divergence',
  sequence_mean: 'Sequences whose mean token divergence',
  sequence_sum: 'Sequences whose summed token divergence',
};

/** Describes the corrections of rollouts, one sentence each. */
function correctionText({ correction }: RunConfig): string[] {
  const level = correction.level.replace('_', ' ');
  const weights = {
    none: [],
    truncate: [
      `Importance weights per ${level} were truncated to between ${correction.low} and ${correction.high} (TIS).`,
    ],
    mask: [
      `Importance weights per ${level} were applied, and masked outside ${correction.low} and ${correction.high} (MIS).`,
    ],
  }[correction.weights];
  const region = trustRegions[correction.trust_region];
  return [
    ...weights,
    ...(region ? [`${region} (${correction.divergence}) exceeded ${correction.bound} were excluded.`] : []),
  ];
}

/** Describes the optimizer steps of an iteration. */
function stepsText(config: RunConfig): string {
  const { epochs, mini_batch } = config.policy_loss;
  if (!fitsMiniBatch(config)) return `for ${count(epochs, 'epoch')} in mini-batches of ${count(mini_batch, 'episode')}`;
  const steps = epochs === 1 ? 'one optimizer step' : `${epochs} optimizer steps, one per epoch,`;
  return `with ${steps} on at most ${count(mostTrainedEpisodes(config), 'episode')} per iteration`;
}

/** States that the objective's limits had no effect; empty if they had. */
function ratioText(config: RunConfig, started: RunRecord['started']): string {
  if (!takesOneStep(config)) return '';
  const rounds = config.exactness === 'fast' && (started?.device ?? config.device) !== 'cpu';
  const limits = config.policy_loss.objective === 'sapo' ? 'τ' : 'clipping';
  return `The ratio was therefore 1 at every token${rounds ? ', except for rounding,' : ''} and ${limits} had no effect.`;
}

function lossText(config: RunConfig, started: RunRecord['started']): string {
  const loss = config.policy_loss;
  const entropy =
    loss.entropy_coefficient === 0
      ? ''
      : ` and an entropy bonus${loss.entropy_tokens === 'reasoning' ? ' on reasoning tokens' : ''} with coefficient ${scientific(loss.entropy_coefficient)}`;
  const ratio = ratioText(config, started);
  const notes = [
    ...(ratio === '' ? [] : [ratio]),
    ...(loss.log_ratio_penalty > 0 && ratio === ''
      ? [`A squared log-ratio penalty had coefficient ${scientific(loss.log_ratio_penalty)}.`]
      : []),
    ...(loss.likelihood_coefficient > 0 && ratio === ''
      ? [
          `Lost likelihood of tokens without a negative advantage was penalized per ${loss.likelihood_gate} with coefficient ${scientific(loss.likelihood_coefficient)} (LLDS, arXiv:2512.04220).`,
        ]
      : []),
    ...(loss.cross_entropy_coefficient > 0
      ? [
          `The cross-entropy of successful episodes was added with coefficient ${scientific(loss.cross_entropy_coefficient)} (VAPO, arXiv:2504.05118).`,
        ]
      : []),
  ];
  const update = `The policy was updated with ${objectiveText(config)}${entropy}, ${averages[loss.average] ?? loss.average}, ${stepsText(config)}.`;
  return [update, ...notes, ...correctionText(config)].join(' ');
}

function klText({ kl }: RunConfig): string {
  if (kl.coefficient === 0) return 'No KL penalty was used.';
  const placement = kl.placement === 'reward' ? "subtracted from every token's reward" : 'added to the loss';
  const reference = kl.reference === '' ? 'the initial policy' : 'a reference policy';
  return `A KL penalty against ${reference} (estimator ${kl.estimator}, coefficient ${scientific(kl.coefficient)}) was ${placement}.`;
}

function optimizerText({ optimizer }: RunConfig): string {
  const schedule = optimizer.schedule === 'constant' ? 'constant' : `decayed to 0 (${optimizer.schedule})`;
  const warmup = optimizer.warmup > 0 ? ` after ${count(optimizer.warmup, 'step')} of linear warm-up` : '';
  const clip = optimizer.gradient_clip > 0 ? `, with gradients clipped to a norm of ${optimizer.gradient_clip}` : '';
  return `The optimizer was AdamW with a learning rate of ${scientific(optimizer.learning_rate)}, ${schedule}${warmup}, β = (${optimizer.beta1}, ${optimizer.beta2}), ε = ${scientific(optimizer.epsilon)} and weight decay ${optimizer.weight_decay}${clip}.`;
}

/** Returns whether training used none of the seeds of evaluation levels. Small levels may still coincide. */
export function areUnseen({ levels, rollout, iterations }: RunConfig, evaluated: { seed: number; levels: number }) {
  const trained = levels.pool > 0 ? levels.pool : iterations * rollout.groups * (rollout.extra_rounds + 1);
  return evaluated.seed + evaluated.levels <= levels.train_seed || levels.train_seed + trained <= evaluated.seed;
}

/** Returns the levels of a run's own evaluations. */
export const ownLevels = ({ levels, evaluation }: RunConfig) => ({
  seed: levels.validation_seed,
  levels: evaluation.levels,
});

export const unseenSeeds = 'with seeds not used in training';

/** `reached`: the last iteration. A run that ended early was not evaluated at its end. */
function evaluationText(config: RunConfig, panels: readonly PanelHash[], reached: number): string {
  const { evaluation, environments, rollout, iterations } = config;
  const evaluated = environments.filter(({ validate }) => validate).length;
  if (evaluated === 0) return '';
  const times = [
    'at the start',
    ...(evaluation.every === 0 || evaluation.every >= iterations - firstIteration(config)
      ? []
      : [evaluation.every === 1 ? 'after every iteration' : `every ${evaluation.every} iterations`]),
    ...(reached < iterations || evaluation.every === 1 ? [] : ['at the end']),
  ];
  const levels = `${count(evaluation.levels, 'fixed level')}${evaluated > 1 ? ' of each environment' : ''}`;
  const unseen = areUnseen(config, ownLevels(config)) ? ` ${unseenSeeds}` : '';
  const often = listWithAnd(times);
  return `${often[0]!.toUpperCase()}${often.slice(1)} the policy was evaluated on ${levels}${unseen}${panelsInBrackets(panels)} at ${samplingText({ ...rollout, temperature: evaluation.temperature })}.`;
}

function earlyStopText(config: RunConfig): string {
  const { early_stop, evaluation, task, rollout } = config;
  if (task === 'warm_start') return '';
  const { reward_std, failed_evaluations, empty_filters } = early_stop;
  const consecutive = (count: number, word: string) => (count === 1 ? `one ${word}` : `${count} consecutive ${word}s`);
  const rules = [
    ...(reward_std > 0 && rollout.group_size > 1
      ? [`ten consecutive iterations with an in-group reward std below ${reward_std} times its mean over the first ten`]
      : []),
    ...(failed_evaluations > 0 && evaluation.every > 0
      ? [`${consecutive(failed_evaluations, 'evaluation')} with a success rate below 1 %`]
      : []),
    ...(empty_filters > 0 && canKeepNoGroup(config)
      ? [`${consecutive(empty_filters, 'iteration')} in which the filter kept no group`]
      : []),
  ];
  return rules.length === 0 ? '' : `Training was set to stop early after ${listWithOr(rules)}.`;
}

function machineText(config: RunConfig, started: RunRecord['started']): string {
  const { precision, exactness, environments, reward } = config;
  const product = 'StarPO Studio';
  if (!started) return `Training was configured with ${product} (${precision}).`;
  const { device, device_name: name, threads, isa, build } = started;
  const where = device === 'cpu' ? `a CPU (${count(threads, 'thread')}, ${isa})` : (name ?? device);
  const hasPrograms =
    environments.some(({ type }) => type === processEnvironment.type) || reward.program.command !== '';
  const exactOnGpu = exactness === 'exact' ? ', with bit-identical log-probabilities in rollout and update' : '';
  const exact = device !== 'cpu' ? exactOnGpu : hasPrograms ? '' : ', bit-reproducible';
  return `Training ran in ${precision} on ${where}${exact}, with ${product} (trainer ${build}).`;
}
