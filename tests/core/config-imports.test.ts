import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importConfig } from '../../core/config-imports/import-config.ts';
import { starpoHere } from './fixtures/command.ts';
import { failure, imported } from './fixtures/imported-config.ts';
import { trainer } from './fixtures/real-trainer.ts';

const folder = join(import.meta.dirname, 'fixtures', 'ragen');
const file = (name: string) => ({ name, text: readFileSync(join(folder, name), 'utf8') });
const sokoban = ['_2_sokoban.yaml', 'base.yaml', 'envs.yaml'].map(file);
const lake = ['_3_frozen_lake.yaml', 'base.yaml', 'envs.yaml'].map(file);

/** An interpolation of OmegaConf. */
const reference = (path: string) => `\${${path}}`;

/** Overrides `a1` to `a18`, each with two references to the previous one. */
const doubling = Array.from({ length: 18 }, (_, index) => `+a${index + 1}=${reference(`a${index}`).repeat(2)}`);

/** Overrides that select RAGEN-2's filter. */
const secondFilter = [
  '+actor_rollout_ref.rollout.rollout_filter_strategy=top_p',
  '+actor_rollout_ref.rollout.rollout_filter_value=0.9',
  'actor_rollout_ref.rollout.rollout_filter_type=largest',
];

describe("RAGEN's configuration", () => {
  test('keeps its algorithm, environments and limits', () => {
    const { config, texts } = imported(sokoban);
    expect(config).toMatchObject({
      preset: 'qwen2.5-0.5b-sokoban-starpo-s',
      iterations: 200,
      start: { model: 'Qwen2.5-0.5B-Instruct' },
      rollout: { groups: 8, group_size: 16, temperature: 1, max_response_tokens: 400, context: 3600, think: true },
      levels: { train_seed: 10_000, validation_seed: 123, pool: 0 },
      reward: { format_penalty: -0.1 },
      filter: { strategy: 'fraction', keep: 0.25 },
      early_stop: { reward_std: 0, failed_evaluations: 0, empty_filters: 0 },
      advantage: { estimator: 'gae', gamma: 1, lambda: 1, whiten: true },
      policy_loss: {
        ...{ clip_low: 0.2, clip_high: 0.28, dual_clip: 3, entropy_coefficient: 0.001 },
        ...{ average: 'trajectory', mini_batch: 32, epochs: 1 },
      },
      optimizer: { learning_rate: 1e-6, weight_decay: 0.01, beta1: 0.9, beta2: 0.999, warmup: 0, schedule: 'constant' },
      critic: { model: 'full', learning_rate: 1e-5, value_clip: 0.5, gradient_clip: 1, warmup: 0 },
      kl: { coefficient: 0, estimator: 'k1', placement: 'reward' },
      evaluation: { every: 10, levels: 256, temperature: 0.5 },
      checkpoint: { every: 0 },
    });
    expect(config.environments).toMatchObject([
      {
        ...{ label: 'simple-sokoban', type: 'sokoban', share: 1, validate: true },
        ...{ max_turns: 5, max_actions_per_turn: 5, max_actions: 10 },
        config: { dim_x: 6, dim_y: 6, num_boxes: 1, max_steps: 100, search_depth: 300 },
      },
    ]);
    expect(texts('mapped')).toContain('es_manager.train.env_groups = 8 is rollout.groups = 8.');
    expect(texts('changed')).toContain('trainer.save_freq = -1 is checkpoint.every = 0. A run always saves');
    expect(texts('changed')).toContain("Iteration 1 uses the configured learning rate. verl's schedule gives 0 there.");
    expect(texts('default')).toContain("verl's ppo_trainer.yaml was not given.");
    expect(texts('no_counterpart')).toContain('trainer.n_gpus_per_node');
    expect(texts('no_counterpart')).not.toContain('env_groups');
  });

  test('takes the prompt from env_instruction and escapes its braces', () => {
    const { first, next } = imported(sokoban).config.environments[0]!.prompt;
    expect(first).toMatch(
      /^Push every box \{\{yes, all\}\} onto a target\. Answer like <answer>Up \|\| Left<\/answer>\.\n/,
    );
    expect(first).toContain('up to 10 actions');
    expect(first).toContain('at most 100 words');
    expect(first).toContain('<think>your thoughts</think><answer>');
    expect(next).toMatch(/^Reward:\n\{reward\}\n/);
    const { config } = imported(sokoban, 'agent_proxy.enable_think=False');
    expect(config.rollout.think).toBe(false);
    expect(config.environments[0]!.prompt.first).not.toContain('<think>');
  });

  test('explains the symbols that an environment uses', () => {
    const { config, texts } = imported(
      sokoban,
      'es_manager.val.env_configs.tags=[SimpleSokoban,LargerSokoban,SokobanDifferentGridVocab,FrozenLake]',
      'es_manager.val.env_configs.n_groups=[128,128,128,128]',
      'es_manager.val.env_groups=512',
    );
    expect(config.environments.map(({ label, share, validate }) => [label, share, validate])).toEqual([
      ['simple-sokoban', 1, true],
      ['larger-sokoban', 0, true],
      ['sokoban-different-grid-vocab', 0, true],
      ['frozen-lake', 0, true],
    ]);
    expect(config.environments[1]!.config).toMatchObject({ dim_x: 8, num_boxes: 2, search_depth: 10 });
    expect(config.environments[2]!.config.grid_lookup).toMatchObject({ 0: 'W', 1: '.', 6: '@' });
    expect(config.environments[2]!.prompt.first).toContain(
      'W wall, . empty, G target, C box on target, B box, A player',
    );
    expect(texts('changed')).toContain('the prompt explains the symbols in use');
    expect(config.environments[3]!.config).toMatchObject({ is_slippery: true, success_rate: 1 / 3, size: 4, p: 0.8 });
    expect(config.evaluation.levels).toBe(128);
    expect(texts('changed')).toContain('Each evaluated environment starts at seed.val.');
  });

  test('shares the groups among several training environments', () => {
    const { config } = imported(
      sokoban,
      'es_manager.train.env_groups=16',
      'es_manager.train.env_configs.tags=[Bandit,SimpleSokoban]',
      'es_manager.train.env_configs.n_groups=[4,12]',
    );
    expect(config.rollout.groups).toBe(16);
    expect(config.environments.map(({ label, share }) => [label, share])).toEqual([
      ['bandit', 0.25],
      ['simple-sokoban', 0.75],
    ]);
    expect(config.environments[0]).toMatchObject({
      config: { lo_arm_name: 'Phoenix', lo_arm_score: 0.1 },
      validate: false,
    });
  });

  test('imports vanilla StarPO with GRPO and a KL loss', () => {
    const { config } = imported(
      lake,
      'algorithm.adv_estimator=grpo',
      'agent_proxy.reward_normalization.method=mean_std',
      'actor_rollout_ref.actor.use_kl_loss=True',
      'actor_rollout_ref.actor.kl_loss_coef=0.001',
      'algorithm.kl_ctrl.kl_coef=0.001',
      'actor_rollout_ref.actor.clip_ratio_high=0.2',
      'actor_rollout_ref.rollout.rollout_filter_ratio=1',
    );
    expect(config).toMatchObject({
      preset: 'qwen2.5-0.5b-frozen-lake-slippery-grpo',
      advantage: { estimator: 'grpo', whiten: false },
      critic: { model: 'none' },
      kl: { coefficient: 0.001, estimator: 'k1', placement: 'loss' },
      policy_loss: { clip_high: 0.2 },
      filter: { strategy: 'none' },
    });
  });

  test('notes that a KL coefficient without a flag has no effect', () => {
    const { config, texts } = imported(sokoban, 'algorithm.kl_ctrl.kl_coef=0.001');
    expect(config.kl.coefficient).toBe(0);
    expect(texts('changed')).toMatch(
      /algorithm\.kl_ctrl\.kl_coef = 0\.001 is kl\.coefficient = 0\. Without algorithm\.use_kl_in_reward/,
    );
    const inReward = imported(sokoban, 'algorithm.kl_ctrl.kl_coef=0.001', 'algorithm.use_kl_in_reward=True').config.kl;
    expect(inReward).toMatchObject({ coefficient: 0.001, estimator: 'k1', placement: 'reward' });
  });

  test.each([
    [
      ['es_manager.val.env_configs.tags=[SimpleSokoban,FrozenLake]', 'es_manager.val.env_configs.n_groups=null'],
      { evaluation: { levels: 128 } },
    ],
    [
      ['agent_proxy.reward_normalization.method=mean', 'algorithm.adv_estimator=grpo'],
      { advantage: { estimator: 'dr_grpo' } },
    ],
    [['actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-sum'], { policy_loss: { average: 'trajectory_sum' } }],
    [['micro_batch_size_per_gpu=4'], { policy_loss: { average: 'token' } }],
    [['ppo_mini_batch_size=24'], { policy_loss: { mini_batch: 32 } }],
    [['agent_proxy.max_context_window=3'], { rollout: { context_turns: 3 } }],
    [['agent_proxy.max_context_window=3', '+agent_proxy.context_window_mode=full'], { rollout: { context_turns: 0 } }],
    [
      ['agent_proxy.max_context_window=2', '+agent_proxy.context_window_mode=single_turn'],
      { rollout: { context_turns: 2 } },
    ],
    [['actor_rollout_ref.actor.optim.lr=1e-5'], { optimizer: { learning_rate: 1e-5 } }],
    [
      ['+actor_rollout_ref.actor.optim.lr_warmup_steps=5', 'actor_rollout_ref.rollout.rollout_filter_ratio=1'],
      { optimizer: { warmup: 20 } },
    ],
    [['actor_rollout_ref.rollout.val_kwargs.do_sample=False'], { evaluation: { temperature: 0.01 } }],
    [
      secondFilter,
      {
        filter: { strategy: 'top_p', keep: 0.9 },
        early_stop: { reward_std: 0.1, failed_evaluations: 5, empty_filters: 5 },
      },
    ],
    [
      [...secondFilter, '+actor_rollout_ref.rollout.rollout_filter_empty_stop_steps=0'],
      { early_stop: { empty_filters: 0 } },
    ],
    [
      ['model_path=Qwen/Qwen2.5-3B-Instruct'],
      {
        preset: 'qwen2.5-3b-sokoban-starpo-s',
        start: { model: 'Qwen2.5-3B-Instruct' },
        optimizer: { recompute: 'block' },
      },
    ],
    [['model_path=null'], { preset: 'qwen2.5-0.5b-sokoban-starpo-s', start: { model: 'Qwen2.5-0.5B-Instruct' } }],
    [['model_path=/models/mine'], { preset: 'custom', start: { model: '/models/mine' } }],
    [
      ['algorithm.bi_level_gae=True'],
      { preset: 'custom', start: { model: 'Qwen2.5-0.5B-Instruct' }, advantage: { estimator: 'bi_level_gae' } },
    ],
    [['algorithm.adv_estimator=rloo'], { preset: 'custom', advantage: { estimator: 'rloo' } }],
    [secondFilter, { preset: 'custom' }],
    [['algorithm.adv_estimator=grpo'], { preset: 'qwen2.5-0.5b-sokoban-grpo-s' }],
    [
      ['agent_proxy.use_turn_scores=True', 'agent_proxy.reward_normalization.method=mean_std'],
      { advantage: { rewards: 'turn' }, reward: { normalization: 'none' } },
    ],
  ])('%j gives the same here', (overrides, expected) => {
    expect(imported(sokoban, ...overrides).config).toMatchObject(expected);
  });

  test('samples from the full distribution', () => {
    const rollout = 'actor_rollout_ref.rollout';
    const { config, texts } = imported(sokoban, `+${rollout}.top_p=0.9`, `+${rollout}.top_k=50`);
    expect(config.rollout).toMatchObject({ top_p: 1, top_k: 0 });
    for (const each of ['top_p = 0.9', 'top_k = 50'])
      expect(texts('no_counterpart')).toContain(`${rollout}.${each}: rollouts sample from the full distribution`);
    expect(imported(sokoban, `+${rollout}.top_k=-1`).texts('mapped')).toContain('top_k = -1 is rollout.top_k = 0.');
  });

  test("becomes WebShop with a synthetic catalogue and the wrapper of RAGEN's version", () => {
    const shop = [
      'es_manager.train.env_configs.tags=[WebShop]',
      'es_manager.val.env_configs.tags=[WebShop]',
      ...['agent_proxy.max_turn=9', 'agent_proxy.max_actions_per_turn=1'],
      ...['actor_rollout_ref.rollout.max_model_len=15000', 'model_path=Qwen/Qwen2.5-3B-Instruct'],
    ];
    const { config, texts } = imported(sokoban, ...shop);
    expect(config).toMatchObject({ preset: 'qwen2.5-3b-webshop-starpo-s', rollout: { context: 15_000, slots: 32 } });
    expect(config.environments).toMatchObject([
      {
        ...{ label: 'web-shop', type: 'webshop', max_turns: 9, max_actions: 9, max_actions_per_turn: 1 },
        config: { catalogue: 'synthetic:1000:1', wrapper: 'ragen_v1', human_goals: false, split: 'auto' },
      },
    ]);
    const { first } = config.environments[0]!.prompt;
    expect(first).toMatch(/^Buy what the instruction asks for\.\n\nTurn \{turn\}:/);
    expect(first).toContain('at most 200 words');
    expect(texts('no_counterpart')).toContain(
      'custom_envs.WebShop.env_config.dataset = "small": WebShop\'s products are not included, so config.catalogue is',
    );
    const second = imported(sokoban, ...shop, ...secondFilter, '++custom_envs.WebShop.env_instruction=null');
    expect(second.config.environments[0]!.config.wrapper).toBe('ragen_v2');
    expect(second.config.environments[0]!.prompt.first).toMatch(/^You shop for a product/);
    const human = imported(sokoban, ...shop, '++custom_envs.WebShop.env_config.human_goals=True').config;
    expect(human.environments[0]!.config).toMatchObject({ catalogue: 'synthetic:5000:1', human_goals: true });
    expect(imported(sokoban, ...shop, 'model_path=Qwen/Qwen2.5-0.5B-Instruct').config.preset).toBe('custom');
  });

  test('notes what has no counterpart', () => {
    const { texts } = imported(
      sokoban,
      'lora.rank=16',
      'enable_response_mask=False',
      'es_manager.val.group_size=4',
      '+trainer.my_option=1',
    );
    for (const each of ['lora.rank = 16', 'enable_response_mask = false', 'val.group_size = 4', 'trainer.my_option'])
      expect(texts('no_counterpart')).toContain(each);
  });

  test.each([
    [
      ['es_manager.train.env_group=4'],
      'config_invalid',
      /env_group is not a setting of the imported configuration/,
      /Did you mean es_manager\.train\.env_groups\?/,
    ],
    [['algorithm.gama=0.9'], 'config_invalid', /algorithm\.gama is not a setting/, /algorithm\.gamma/],
    [
      ['es_manager.train.env_groups=9'],
      'config_invalid',
      /env_groups is 9, but env_configs\.n_groups has 8/,
      /env_groups=8/,
    ],
    [
      ['es_manager.train.env_groups=many'],
      'config_invalid',
      /env_groups must be a whole number|must be a number, not "many"/,
      /Correct the file/,
    ],
    [
      ['agent_proxy.enable_think=maybe'],
      'config_invalid',
      /must be true or false, not "maybe"/,
      /agent_proxy\.enable_think=VALUE/,
    ],
    [
      ['es_manager.train.env_configs.tags=[SimpleSokobann]'],
      'config_invalid',
      /The files do not define SimpleSokobann/,
      /SimpleSokoban\?/,
    ],
    [
      ['es_manager.train.env_configs.tags=[MetamathQA]'],
      'config_unsupported',
      /uses the environment metamathqa, which StarPO Studio does not have/,
      /bandit or webshop/,
    ],
    [
      ['actor_rollout_ref.rollout.rollout_filter_type=std_rev'],
      'config_unsupported',
      /rollout_filter_type = std_rev/,
      /rollout_filter_type=std/,
    ],
    [
      ['agent_proxy.reward_normalization.method=mean_std', 'es_manager.train.group_size=1'],
      'config_unsupported',
      /grouping = state, with groups of one episode/,
      /grouping=batch/,
    ],
    [['actor_rollout_ref.actor.clip_ratio_c=0.5'], 'config_invalid', /clip_ratio_c must be 1 or more/, /VALUE/],
    [['algorithm.adv_estimator=remax'], 'config_unsupported', /adv_estimator = remax/, /grpo/],
    [
      ['actor_rollout_ref.actor.entropy_coeff=5'],
      'config_invalid',
      /entropy_coeff: policy_loss\.entropy_coefficient must be 1 or less/,
      /./,
    ],
    [
      [...secondFilter, '+actor_rollout_ref.rollout.rollout_filter_top_p_prob_mode=none'],
      'config_unsupported',
      /top_p_prob_mode = none/,
      /linear or softmax, for example/,
    ],
    [['trainer.total_training_steps=null'], 'config_invalid', /total_training_steps is not set/, /=200/],
    [
      [`model_path=${reference('oc.env:MODEL')}`],
      'config_invalid',
      /\$\{oc\.env:MODEL\}, which is not the path of a setting/,
      /^Set it with actor_rollout_ref\.model\.path=VALUE\.$/,
    ],
    [[`model_path=${reference('model_path')}`], 'config_invalid', /refers to itself/, /VALUE/],
    [
      ['+a0=x', ...doubling, `model_path=${reference('a18')}`],
      'config_invalid',
      /refers to \$\{a\d+\}, which is one of more than 1000 references/,
      /VALUE/,
    ],
    [
      ['es_manager.train.env_configs.tags=[SimpleSokoban'],
      'config_unreadable',
      /The value of "es_manager.*" is invalid/,
      /key=\[a,b\]/,
    ],
    [['noequals'], 'config_invalid', /"noequals" is not of the form key=value/, /Example/],
    [['~trainer=1'], 'config_invalid', /"~trainer=1" is not of the form key=value, .+ or ~key/, /Example/],
    [['preset=starter-sokoban'], 'config_invalid', /preset has no effect/, /Remove/],
  ])('refuses %j', (overrides, code, message, hint) => {
    expect(() => imported(sokoban, ...overrides)).toThrow(failure(code, message, hint));
  });
});

describe('files', () => {
  const text = (name: string, content: string) => ({ name, text: content });

  test('are merged in the order of defaults lists, wherever they were given', () => {
    const other = text(
      'mine.yaml',
      'defaults:\n  - _self_\n  - base\ntrainer:\n  test_freq: 3\nes_manager:\n  format_penalty: -0.5\n',
    );
    const { config } = imported([file('envs.yaml'), other, file('base.yaml')]);
    // `_self_` before base: the values of base have priority.
    expect(config).toMatchObject({ evaluation: { every: 10 }, reward: { format_penalty: -0.1 } });
    const last = text('mine.yaml', 'defaults:\n  - base\ntrainer:\n  test_freq: 3\n');
    expect(imported([last, file('envs.yaml'), file('base.yaml')]).config.evaluation.every).toBe(3);
  });

  test("may contain verl's ppo_trainer.yaml, or the link to it as text", () => {
    const own = text('ppo_trainer.yaml', 'actor_rollout_ref:\n  actor:\n    clip_ratio_c: 5\n');
    const { config, texts } = imported([...sokoban, own]);
    expect(config.policy_loss.dual_clip).toBe(5);
    expect(texts('default')).not.toContain('ppo_trainer.yaml');
    const link = text('ppo_trainer.yaml', '../verl/verl/trainer/config/ppo_trainer.yaml');
    expect(imported([...sokoban, link]).config.policy_loss.dual_clip).toBe(3);
  });

  test('that many files list are merged once', () => {
    const names = Array.from({ length: 16 }, (_, index) => `f${index}`);
    const content = 'x: {'.concat(Array.from({ length: 1000 }, (_, index) => `k${index}: 1`).join(', '), '}\n');
    // Each file lists all later ones, so the last one is reached in 2^14 ways.
    const files = names.map((name, index) =>
      text(`${name}.yaml`, `defaults: [${names.slice(index + 1).join(', ')}]\n${index === 15 ? content : ''}`),
    );
    expect(() => importConfig(files, [])).toThrow(failure('config_unsupported', /not a configuration of RAGEN/));
  });

  test.each([
    [[file('_2_sokoban.yaml')], [], 'config_unreadable', /_2_sokoban\.yaml needs base\.yaml/],
    [[text('a.yaml', 'a: [1, 2')], [], 'config_unreadable', /a\.yaml is not valid YAML: .*line 1/],
    [[text('a.yaml', 'a: 1\na: 2\n')], [], 'config_unreadable', /unique/],
    [[text('a.yaml', 'just text')], [], 'config_unreadable', /a\.yaml does not contain settings/],
    [[text('a.yaml', 'x: 1')], [], 'config_unsupported', /not a configuration of RAGEN/],
    [[text('a.yaml', '')], [], 'config_unsupported', /not a configuration of RAGEN/],
    [[text('a.yaml', 'x: 1'), text('b/a.yaml', 'x: 1')], [], 'config_unreadable', /Two files are named a/],
    [
      [text('a.yaml', 'defaults: [b]'), text('b.yaml', 'defaults: [a]')],
      [],
      'config_unreadable',
      /The defaults lists form a cycle: a, b, a/,
    ],
    [
      [text('a.yaml', 'defaults: [b, b]'), text('b.yaml', 'x: 1')],
      [],
      'config_unreadable',
      /a\.yaml lists a default twice/,
    ],
    [[text('a.yaml', 'defaults: [{model: big}]')], [], 'config_unreadable', /has the default \{"model":"big"\}/],
    [[text('a.yaml', `${'['.repeat(20_000)}`)], [], 'config_unreadable', /a\.yaml is not valid YAML/],
    [[text('a.yaml', `a: ${'{b: '.repeat(40)}1${'}'.repeat(40)}`)], [], 'config_unreadable', /nested too deeply/],
  ])('%# are refused with a reason', (files, overrides, code, message) => {
    expect(() => importConfig(files, overrides)).toThrow(failure(code, message));
  });
});

describe('starpo import-ragen', () => {
  const run = (...args: string[]) => starpoHere(['import-ragen', ...args], process.env);

  test('finds the files of a defaults list beside the given one', async () => {
    const { status, output } = await run(join(folder, '_2_sokoban.yaml'), 'es_manager.format_penalty=-0.2');
    expect(status).toBe(0);
    const { config, notes } = JSON.parse(output);
    expect(config.reward.format_penalty).toBe(-0.2);
    expect(notes).toContain('Mapped: es_manager.format_penalty = -0.2 is reward.format_penalty = -0.2.');
  });

  test.skipIf(!existsSync(trainer))('reports what the trainer rejects, with the setting of the file', async () => {
    const setting = 'custom_envs.SimpleSokoban.env_config.num_boxes';
    const { status, errors } = await run(join(folder, '_2_sokoban.yaml'), `${setting}=15`);
    expect(status).toBe(2);
    expect(errors).toMatch(`${setting}: environments[0].config.num_boxes: must leave at least two of the 16 cells`);
  });

  test('reports a missing file', async () => {
    const { status, errors } = await run(join(folder, 'none.yaml'));
    expect(status).toBe(2);
    expect(errors).toMatch(/none\.yaml can't be read: file not found[\s\S]*config_unreadable/);
  });
});
