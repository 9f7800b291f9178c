import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { counterpartOf, counterparts, patterns, type Trainer } from '../../core/config-imports/counterparts.ts';
import { importConfig } from '../../core/config-imports/import-config.ts';
import { Failure } from '../../core/contract/failure.ts';
import { locate, type Tree } from '../../core/run-config/tree.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const file = (name: string) => ({ name, text: readFileSync(join(fixtures, 'ragen', name), 'utf8') });
const ragenFiles = ['_2_sokoban.yaml', 'base.yaml', 'envs.yaml'].map(file);
const trlFile = { name: 'grpo.yaml', text: 'num_generations: 8\nmax_steps: 300\nper_device_train_batch_size: 64\n' };

const agent = [
  ...['env.env_name=Sokoban', 'env.rollout.n=8', 'data.train_batch_size=16', 'trainer.total_epochs=10'],
  'actor_rollout_ref.actor.ppo_mini_batch_size=64',
];
const actor = 'actor_rollout_ref.actor';
const rollout = 'actor_rollout_ref.rollout';
const top_p = [`+${rollout}.rollout_filter_strategy=top_p`, `${rollout}.rollout_filter_type=largest`];
const filtered = [...top_p, `+${rollout}.rollout_filter_value=0.9`];

const inReward = ['use_kl_in_reward=True', 'kl_ctrl.kl_coef=0.1', 'kl_ctrl.type=adaptive'].map(
  (each) => `++algorithm.${each}`,
);

interface Probe {
  /** Value that the second import has. */
  value?: unknown;
  /** Value that is refused, for a setting with one value. */
  refused?: string;
  /** Overrides of both imports. */
  with?: string[];
  /** The setting, for those of a prefix. */
  path?: string;
  /** Trainer whose import is compared, if the setting is read there only. */
  trainer?: Trainer;
}

/** A value of each setting with a counterpart that changes the import. */
const probes: Record<Trainer, Record<string, Probe>> = {
  ragen: {
    'es_manager.train.env_groups': { value: 16, with: ['es_manager.train.env_configs.n_groups=null'] },
    'es_manager.train.group_size': { value: 8 },
    'es_manager.train.env_configs.tags': { value: '[Bandit]' },
    'es_manager.train.env_configs.n_groups': {
      value: '[2,6]',
      with: ['es_manager.train.env_configs.tags=[Bandit,SimpleSokoban]', 'es_manager.train.env_configs.n_groups=[4,4]'],
    },
    'es_manager.val.env_groups': { value: 128, with: ['es_manager.val.env_configs.n_groups=null'] },
    'es_manager.val.env_configs.tags': { value: '[Bandit]' },
    'es_manager.val.env_configs.n_groups': { value: '[64]', with: ['es_manager.val.env_groups=null'] },
    'es_manager.format_penalty': { value: -0.5 },
    'custom_envs.': { value: '[8,8]', path: 'custom_envs.SimpleSokoban.env_config.dim_room' },
    'seed.train': { value: 1 },
    'seed.val': { value: 1 },
    'agent_proxy.max_turn': { value: 3 },
    'agent_proxy.max_actions_per_turn': { value: 2 },
    'agent_proxy.enable_think': { value: false },
    'agent_proxy.use_turn_scores': { value: true },
    'agent_proxy.max_context_window': { value: 3 },
    'agent_proxy.without_history': { value: true },
    'agent_proxy.context_window_mode': { value: 'full', with: ['agent_proxy.max_context_window=3'] },
    'agent_proxy.reward_normalization.method': { value: 'asym_clip' },
    'agent_proxy.reward_normalization.grouping': {
      value: 'inductive',
      with: ['agent_proxy.reward_normalization.method=mean_std'],
    },
    [`${rollout}.rollout_filter_ratio`]: { value: 0.5 },
    [`${rollout}.rollout_filter_value`]: { value: 0.8, with: filtered },
    [`${rollout}.rollout_filter_strategy`]: { value: 'min_p', with: filtered },
    [`${rollout}.rollout_filter_top_p_prob_mode`]: { value: 'softmax', with: filtered },
    [`${rollout}.rollout_filter_type`]: { value: 'smallest', with: filtered },
    [`${rollout}.rollout_filter_metric`]: { value: 'entropy', with: filtered },
    [`${rollout}.rollout_filter_empty_stop_steps`]: { value: 7, with: filtered },
    'algorithm.bi_level_gae': { value: true },
    model_path: { value: 'Qwen/Qwen2.5-3B-Instruct' },
    ppo_mini_batch_size: { value: 64 },
    'algorithm.high_level_gamma': { value: 0.5, with: ['algorithm.bi_level_gae=True'] },
  },
  verl: {
    'algorithm.adv_estimator': { value: 'reinforce_plus_plus' },
    'algorithm.gamma': { value: 0.9 },
    'algorithm.lam': { value: 0.9 },
    'algorithm.norm_adv_by_std_in_grpo': { value: false, with: ['algorithm.adv_estimator=grpo'] },
    'algorithm.use_kl_in_reward': { value: true, with: [`${actor}.kl_loss_coef=0.1`, 'algorithm.kl_ctrl.kl_coef=0.1'] },
    'algorithm.kl_penalty': {
      value: 'mse',
      with: ['+algorithm.use_kl_in_reward=True', 'algorithm.kl_ctrl.kl_coef=0.1'],
    },
    'algorithm.kl_ctrl.kl_coef': { value: 0.1, with: ['+algorithm.use_kl_in_reward=True'] },
    [`${actor}.clip_ratio`]: { value: 0.5, with: [`${actor}.clip_ratio_low=null`, `${actor}.clip_ratio_high=null`] },
    [`${actor}.clip_ratio_low`]: { value: 0.1 },
    [`${actor}.clip_ratio_high`]: { value: 0.5 },
    [`${actor}.clip_ratio_c`]: { value: 5 },
    [`${actor}.policy_loss.loss_mode`]: { value: 'gspo' },
    [`${actor}.loss_agg_mode`]: { value: 'seq-mean-token-sum' },
    [`${actor}.entropy_coeff`]: { value: 0.5 },
    [`${actor}.use_kl_loss`]: { value: true, with: [`${actor}.kl_loss_coef=0.1`] },
    [`${actor}.kl_loss_coef`]: { value: 0.1, with: [`${actor}.use_kl_loss=True`] },
    [`${actor}.kl_loss_type`]: { value: 'mse', with: [`${actor}.use_kl_loss=True`, `${actor}.kl_loss_coef=0.1`] },
    [`${actor}.ppo_mini_batch_size`]: { value: 64 },
    [`${actor}.ppo_epochs`]: { value: 2 },
    [`${actor}.grad_clip`]: { value: 0.5 },
    [`${actor}.optim.lr`]: { value: 1e-3 },
    [`${actor}.optim.betas`]: { value: '[0.8,0.95]' },
    [`${actor}.optim.weight_decay`]: { value: 0.5 },
    [`${actor}.optim.lr_warmup_steps`]: { value: 5 },
    [`${actor}.optim.lr_warmup_steps_ratio`]: { value: 0.5 },
    [`${actor}.optim.warmup_style`]: { value: 'cosine' },
    'critic.optim.lr': { value: 1e-3 },
    'critic.grad_clip': { value: 0.1 },
    'critic.cliprange_value': { value: 0.1 },
    'trainer.critic_warmup': { value: 5 },
    [`${rollout}.temperature`]: { value: 0.5 },
    [`${rollout}.response_length`]: { value: 50 },
    [`${rollout}.max_model_len`]: { value: 2000 },
    [`${rollout}.val_kwargs.temperature`]: { value: 1 },
    [`${rollout}.val_kwargs.do_sample`]: { value: false },
    'trainer.total_training_steps': { value: 7 },
    'trainer.total_epochs': { value: 7, trainer: 'verl-agent' },
    'trainer.test_freq': { value: 3 },
    'trainer.save_freq': { value: 3 },
    'actor_rollout_ref.model.path': { value: 'Qwen/Qwen2.5-3B-Instruct' },
  },
  'verl-agent': {
    'data.train_batch_size': { value: 32 },
    'data.val_batch_size': { value: 32 },
    'env.env_name': { refused: 'alfworld/AlfredTWEnv' },
    'env.rollout.n': { value: 16 },
    'env.seed': { value: 3 },
    'algorithm.filter_groups.enable': { value: true },
    'algorithm.filter_groups.max_num_gen_batches': { value: 4, with: ['++algorithm.filter_groups.enable=True'] },
    'env.max_steps': { value: 20 },
    'env.sokoban.dim_room': { value: '[8,8]' },
    'env.sokoban.num_boxes': { value: 2 },
    'env.sokoban.search_depth': { value: 50 },
    'env.webshop.human_goals': { value: true, with: ['env.env_name=Webshop'] },
    'env.history_length': { value: 5, with: ['algorithm.adv_estimator=hgpo'] },
    [`${actor}.use_invalid_action_penalty`]: { value: false },
    [`${actor}.invalid_action_penalty_coef`]: { value: 0.5 },
    'algorithm.gamma': { value: 0.9, with: ['algorithm.adv_estimator=gigpo'] },
    'algorithm.gigpo.step_advantage_w': { value: 0.5, with: ['algorithm.adv_estimator=gigpo'] },
    'algorithm.gigpo.mode': { value: 'mean_std_norm', with: ['algorithm.adv_estimator=gigpo'] },
    'algorithm.hgpo.mode': { value: 'mean_std_norm', with: ['algorithm.adv_estimator=hgpo'] },
    'algorithm.hgpo.length_weight_alpha': { value: 2, with: ['algorithm.adv_estimator=hgpo'] },
    'algorithm.hgpo.base_group': { value: true, with: ['algorithm.adv_estimator=hgpo'] },
  },
  trl: {
    model_name_or_path: { value: 'Qwen/Qwen2.5-3B-Instruct' },
    num_generations: { value: 16 },
    per_device_train_batch_size: { value: 128 },
    gradient_accumulation_steps: { value: 2, with: ['+generation_batch_size=128'] },
    generation_batch_size: { value: 128 },
    steps_per_generation: { value: 2 },
    max_completion_length: { value: 50 },
    temperature: { value: 0.5 },
    beta: { value: 0.1 },
    num_iterations: { value: 2 },
    epsilon: { value: 0.1 },
    epsilon_high: { value: 0.5 },
    delta: { value: 3 },
    loss_type: { value: 'sapo' },
    sapo_temperature_pos: { value: 2, with: ['+loss_type=sapo'] },
    sapo_temperature_neg: { value: 2, with: ['+loss_type=sapo'] },
    importance_sampling_level: { value: 'sequence' },
    scale_rewards: { value: 'batch' },
    multi_objective_aggregation: { value: 'normalize_then_sum' },
    vllm_importance_sampling_correction: { value: true },
    vllm_importance_sampling_mode: { value: 'sequence_truncate' },
    vllm_importance_sampling_cap: { value: 5, with: ['+vllm_importance_sampling_mode=token_mask'] },
    seed: { value: 7 },
    max_steps: { value: 100 },
    learning_rate: { value: 1e-3 },
    lr_scheduler_type: { value: 'cosine' },
    warmup_steps: { value: 5 },
    warmup_ratio: { value: 0.5 },
    adam_beta1: { value: 0.8 },
    adam_beta2: { value: 0.95 },
    adam_epsilon: { value: 1e-5 },
    weight_decay: { value: 0.5 },
    max_grad_norm: { value: 0.5 },
    eval_strategy: { value: 'no' },
    eval_steps: { value: 3 },
    save_strategy: { value: 'no' },
    save_steps: { value: 3 },
    save_total_limit: { value: 5 },
  },
};

/** Imports the example of a trainer with overrides. */
function imported(trainer: Trainer, overrides: readonly string[]) {
  if (trainer === 'verl-agent') return importConfig([], [...agent, ...overrides]);
  return importConfig(trainer === 'trl' ? [trlFile] : ragenFiles, overrides);
}

const rows = (Object.keys(counterparts) as Trainer[]).flatMap((trainer) =>
  counterparts[trainer].map((row) => [trainer, row.setting, row] as const),
);

describe('a setting with a counterpart changes it', () => {
  test.for(rows.filter(([, , { here }]) => here))('%s: %s', ([trainer, setting, { here }]) => {
    const { value, refused, path = setting, with: both = [], trainer: importer = trainer } = probes[trainer][setting]!;
    if (refused) {
      expect(() => imported(importer, [`++${path}=${refused}`])).toThrow(/has no counterpart/);
      return;
    }
    const before = imported(importer, both).config as Tree;
    const after = imported(importer, [...both, `++${path}=${value}`]).config as Tree;
    const valueAt = (config: Tree, at: string) => {
      const { parent, key } = locate(config, at.replace('[]', '.0'))!;
      return JSON.stringify(parent[key]);
    };
    expect(here!.filter((at) => valueAt(before, at) !== valueAt(after, at))).not.toEqual([]);
  });
});

/** Texts that name another setting: the one that it sets, or one that applies because it is off. */
const otherTexts: Record<string, RegExp> = {
  model_path: /^actor_rollout_ref\.model\.path = /m,
  ppo_mini_batch_size: /^actor_rollout_ref\.actor\.ppo_mini_batch_size /m,
  [`${actor}.optim.lr_warmup_steps`]: /lr_warmup_steps_ratio = 0 is/,
  warmup_ratio: /^warmup_steps is not set: optimizer\.warmup = 0/m,
  gradient_accumulation_steps: /^max_steps: iterations must be/,
};

/** Settings of environments, which are copied without a note. */
const ofEnvironments = Object.entries({
  SimpleSokoban: ['env_config.dim_room', 'env_config.num_boxes', 'env_config.search_depth', 'env_config.grid_lookup'],
  FrozenLake: ['env_config.size', 'env_config.p', 'env_config.success_rate', 'env_config.is_slippery', 'max_tokens'],
  Bandit: ['env_config.lo_arm_name', 'env_config.hi_arm_hiscore_prob', 'max_actions_per_traj'],
  WebShop: ['env_config.human_goals', 'env_config.observation_mode', 'env_config.dataset', 'max_actions_per_traj'],
}).flatMap(([tag, keys]) =>
  keys.map((key) => ['ragen', `custom_envs.${tag}.${key}`, [`es_manager.train.env_configs.tags=[${tag}]`]] as const),
);

test('a value that is out of range or of another type is rejected or noted, with the name of its setting', () => {
  const importOf = (trainer: Trainer, setting: string) => {
    const { path = setting, with: both = [], trainer: importer = trainer } = probes[trainer][setting]!;
    // An import for verl-agent parses no files, so it takes a fifth of the time.
    const isShared = trainer === 'verl' && !/max_model_len|val_kwargs/.test(setting);
    return [isShared ? 'verl-agent' : importer, path, both] as const;
  };
  const imports = rows.flatMap(([trainer, setting, { here }]) => (here ? [importOf(trainer, setting)] : []));
  const silent: string[] = [];
  for (const [trainer, path, both] of [...imports, ...ofEnvironments])
    for (const [value, used] of [
      ['0', ':0'],
      ['-1', ':-1'],
      ['1e12', '1000000000000'],
      ['other', '"other"'],
    ] as const) {
      let text: string;
      try {
        const { config, notes } = imported(trainer, [...both, `++${path}=${value}`]);
        text = notes.map((note) => note.text).join('\n');
        const isCopied = path.startsWith('custom_envs.') && JSON.stringify(config).includes(used);
        if (isCopied) continue;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        expect(error.code).toMatch(/^config_(invalid|unsupported)$/);
        expect(error.hint).not.toBe('');
        text = error.message;
      }
      if (!text.split(/[\s:]+/).includes(path) && !otherTexts[path]?.test(text))
        silent.push(`${trainer}: ${path}=${value}`);
    }
  // A KL weight of 0 means no penalty.
  expect(silent).toEqual(['verl-agent: algorithm.kl_ctrl.kl_coef=0', `verl-agent: ${actor}.kl_loss_coef=0`]);
});

test.for(rows.filter(([, , { why }]) => why))('%s: %s is noted with the reason', ([trainer, setting, { why }]) => {
  const path = /[._]$/.test(setting) ? `${setting}x` : setting;
  const adaptive = setting.startsWith('algorithm.kl_ctrl.') ? inReward : [];
  const importers: Trainer[] = trainer === 'verl' ? ['verl', 'verl-agent'] : [trainer];
  const values = ['7', '0.5', 'True', 'False', 'rgb', 'adaptive', '[0.5,0.6]'];
  const notes = importers.flatMap((each) =>
    values.flatMap((value) => {
      try {
        return imported(each, [...adaptive, `++${path}=${value}`]).notes;
      } catch {
        return []; // Another type.
      }
    }),
  );
  const reasons = notes.filter(({ kind, text }) => kind === 'no_counterpart' && text.includes(path));
  expect(reasons.map(({ text }) => text)).toContainEqual(expect.stringContaining(`: ${why}.`));
});

test('every setting of the trainers is in a table, or concerns only machines, logs or data', () => {
  const lists = { ragen: ['ragen', 'verl'], 'verl-agent': ['verl-agent', 'verl'], trl: ['trl'] } as const;
  for (const [name, trainers] of Object.entries(lists)) {
    const settings = readFileSync(join(fixtures, 'settings', `${name}.txt`), 'utf8')
      .trim()
      .split('\n');
    const missing = settings.filter(
      (setting) => !counterpartOf(trainers, setting) && !patterns.some(([pattern]) => pattern.test(setting)),
    );
    expect(missing, name).toEqual([]);
  }
});
