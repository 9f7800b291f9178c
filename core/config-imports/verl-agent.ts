import { Failure } from '../contract/failure.ts';
import { sokoban } from '../environments/sokoban.ts';
import { webshop } from '../environments/webshop.ts';
import type { Draft } from './draft.ts';
import { importCatalogue } from './environments.ts';
import { stepsPerIteration } from './ragen.ts';
import { estimatorOf, importTraining, importWarmup, setEstimator, unsupported } from './verl.ts';

/** Imports verl-agent's settings: overrides of verl's ppo_trainer.yaml, with the environment under `env`. */
export function importVerlAgent(draft: Draft): void {
  const { config } = draft;
  importEnvironment(draft);
  draft.integer('rollout.groups', 'data.train_batch_size');
  draft.integer('rollout.group_size', 'env.rollout.n');
  draft.integer('levels.train_seed', 'env.seed');
  draft.integer('evaluation.levels', 'data.val_batch_size');
  importMemory(draft);
  importEstimator(draft);
  config.filter = { ...config.filter, strategy: 'none', keep: 1 };
  importDynamicSampling(draft);
  importTraining(draft);
  importPenalty(draft);
  importIterations(draft);
  importWarmup(draft, stepsPerIteration(draft));
  config.rollout.slots = Math.min(config.rollout.slots, config.rollout.groups * config.rollout.group_size);
}

/** Imports the memory of verl-agent, which contains the last turns of an episode without the current one. */
function importMemory(draft: Draft): void {
  const source = 'env.history_length';
  const turns = draft.from.integer(source, 0) ?? 2;
  const { max_turns } = draft.config.environments[0]!;
  if (turns < max_turns) draft.set('rollout.context_turns', turns + 1, source, 'Includes the current turn.');
  else draft.set('rollout.context_turns', 0, source, 'The history covers the whole episode.');
  draft.changed(
    'Earlier turns are messages with whole responses. verl-agent lists their states and actions in a single message.',
  );
}

/** Without a limit, verl-agent samples until every group has different rewards. */
function importDynamicSampling(draft: Draft): void {
  const { from } = draft;
  const enabled = 'algorithm.filter_groups.enable';
  if (!from.flag(enabled)) return;
  if (draft.config.rollout.group_size === 1) {
    draft.missing(enabled, 'a group of one episode has no reward std');
    return;
  }
  const source = 'algorithm.filter_groups.max_num_gen_batches';
  const limit = from.integer(source) ?? 0;
  if (limit > 0) {
    draft.set('rollout.extra_rounds', limit - 1, source);
  } else {
    draft.set('rollout.extra_rounds', 9, enabled);
    draft.changed(`An iteration samples at most 10 rounds. verl-agent has no limit unless ${source} is above 0.`);
  }
}

function importEnvironment(draft: Draft): void {
  const { from, config } = draft;
  const name = from.text('env.env_name') ?? '';
  const type = /sokoban|webshop/i.exec(name)?.[0].toLowerCase();
  if (type === undefined)
    throw new Failure(
      'config_unsupported',
      `env.env_name = ${name} has no counterpart in StarPO Studio.`,
      'Import a configuration of Sokoban or WebShop, or start from a preset.',
    );
  const { preset, chatPrompt } = type === 'sokoban' ? sokoban : webshop;
  const own = type === 'sokoban' ? sokobanConfig(draft) : shopConfig(draft);
  const steps = from.integer('env.max_steps') ?? 50;
  for (const key of ['max_turns', 'max_actions']) draft.sources.set(`environments.0.${key}`, 'env.max_steps');
  config.environments = [
    {
      ...structuredClone(preset),
      config: own,
      ...{ max_turns: steps, max_actions_per_turn: 1, max_actions: steps },
      prompt: chatPrompt,
    },
  ];
  draft.note(
    'mapped',
    `env.env_name = ${name} becomes the environment ${type}, with one action per turn and ${steps} turns (env.max_steps).`,
  );
  draft.changed("The prompt is StarPO Studio's, because verl-agent defines its prompts in code.");
}

function sokobanConfig(draft: Draft): Record<string, unknown> {
  const { from } = draft;
  const own: Record<string, unknown> = { ...structuredClone(sokoban.preset.config), search_depth: 30 };
  const at = 'environments.0.config';
  const room = from.pair('env.sokoban.dim_room');
  if (room !== undefined) [own.dim_x, own.dim_y] = room;
  for (const key of ['dim_x', 'dim_y']) draft.sources.set(`${at}.${key}`, 'env.sokoban.dim_room');
  for (const key of ['num_boxes', 'search_depth', 'max_steps']) {
    const value = from.integer(`env.sokoban.${key}`);
    if (value !== undefined) own[key] = value;
    draft.sources.set(`${at}.${key}`, `env.sokoban.${key}`);
  }
  const mode = from.text('env.sokoban.mode');
  if (mode !== undefined && /rgb/.test(mode)) draft.missing('env.sokoban.mode');
  return own;
}

/** Returns the configuration of verl-agent's WebShop. It rewards only perfect purchases, as RAGEN-2's does, but with 10 instead of 1. */
function shopConfig(draft: Draft): Record<string, unknown> {
  const human = draft.from.flag('env.webshop.human_goals') ?? false;
  const own: Record<string, unknown> = {
    ...structuredClone(webshop.preset.config),
    wrapper: 'ragen_v2',
    human_goals: human,
  };
  if (human) draft.note('mapped', 'env.webshop.human_goals = true is config.human_goals = true.');
  importCatalogue(draft, 'env.webshop.use_small', own);
  draft.config.reward.environment_weight = 10;
  draft.note('mapped', 'A perfect purchase earns 10, as in verl-agent: reward.environment_weight = 10.');
  draft.changed(
    'Observations are those of RAGEN-2, with advice and a list of actions. Goals are split as in RAGEN: 1,000 for evaluations and 500 for tests are not trained on. verl-agent evaluates on the first 500 goals.',
  );
  return own;
}

function importEstimator(draft: Draft): void {
  const { from, config } = draft;
  const source = 'algorithm.adv_estimator';
  const estimator = estimatorOf(draft, ['gigpo', 'hgpo']);
  if (estimator === 'grpo' && from.flag('algorithm.norm_adv_by_std_in_grpo') === false)
    setEstimator(draft, 'dr_grpo', 'algorithm.norm_adv_by_std_in_grpo', 'Without the std, GRPO is Dr. GRPO.');
  else setEstimator(draft, estimator, source);
  if (estimator !== 'gigpo' && estimator !== 'hgpo') return;
  config.advantage.rewards = 'turn';
  draft.number('advantage.turn_gamma', 'algorithm.gamma');
  const mode = from.text(`algorithm.${estimator}.mode`) ?? 'mean_norm';
  if (mode !== 'mean_norm' && mode !== 'mean_std_norm')
    throw unsupported(`algorithm.${estimator}.mode`, mode, ['mean_norm', 'mean_std_norm']);
  draft.set('advantage.scale_by_std', mode === 'mean_std_norm', `algorithm.${estimator}.mode`);
  if (estimator === 'gigpo') {
    draft.number('advantage.step_weight', 'algorithm.gigpo.step_advantage_w');
    draft.changed('An episode counts once in the mean and std of its group. verl-agent counts it once per turn.');
    return;
  }
  draft.integer('advantage.history', 'env.history_length');
  draft.number('advantage.history_exponent', 'algorithm.hgpo.length_weight_alpha');
  draft.flag('advantage.episode_term', 'algorithm.hgpo.base_group');
  const weight = from.text('algorithm.hgpo.weight_type');
  if (weight !== undefined && weight !== 'length') throw unsupported('algorithm.hgpo.weight_type', weight, ['length']);
}

function importPenalty(draft: Draft): void {
  const { from } = draft;
  const actor = 'actor_rollout_ref.actor';
  const weight = from.number(`${actor}.invalid_action_penalty_coef`, 0) ?? 0.1;
  const source = `${actor}.invalid_action_penalty_coef`;
  if (from.flag(`${actor}.use_invalid_action_penalty`) === false)
    draft.set('reward.format_penalty', 0, `${actor}.use_invalid_action_penalty`);
  else draft.set('reward.format_penalty', -weight, source, 'A penalty is a negative reward here.');
}

/** Sets the iterations. verl-agent has one batch per epoch, and stops after the epochs or the steps, whichever are fewer. */
function importIterations(draft: Draft): void {
  const [steps, epochs] = ['trainer.total_training_steps', 'trainer.total_epochs'] as const;
  const [most, rounds] = [draft.from.integer(steps), draft.from.integer(epochs)];
  if (rounds === undefined) draft.integer('iterations', steps);
  else if (most === undefined) draft.set('iterations', rounds, epochs, "verl-agent's data has one batch per epoch.");
  else if (most < rounds) draft.set('iterations', most, steps, `It ends before ${epochs} = ${rounds}.`);
  else draft.set('iterations', rounds, epochs, `It ends before ${steps} = ${most}, with one batch per epoch.`);
}
