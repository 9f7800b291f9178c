import type { Tree } from '../run-config/tree.ts';

const interpolated = (path: string) => `\${${path}}`;

/**
 * Defaults of verl's ppo_trainer.yaml at the commit that RAGEN pins (1e47e412), for settings that have a counterpart here. They apply if that
 * file was not given.
 */
export const verlDefaults: Tree = {
  data: { train_batch_size: 1024, val_batch_size: null, max_prompt_length: 512, max_response_length: 512 },
  actor_rollout_ref: {
    model: { path: null },
    actor: {
      ppo_mini_batch_size: 256,
      ppo_micro_batch_size: null,
      ppo_micro_batch_size_per_gpu: null,
      grad_clip: 1,
      clip_ratio: 0.2,
      clip_ratio_low: 0.2,
      clip_ratio_high: 0.2,
      clip_ratio_c: 3,
      loss_agg_mode: 'token-mean',
      entropy_coeff: 0,
      use_kl_loss: false,
      kl_loss_coef: 0.001,
      kl_loss_type: 'low_var_kl',
      ppo_epochs: 1,
      shuffle: false,
      optim: {
        lr: 1e-6,
        lr_warmup_steps: -1,
        lr_warmup_steps_ratio: 0,
        min_lr_ratio: null,
        warmup_style: 'constant',
        weight_decay: 0.01,
      },
    },
    rollout: {
      temperature: 1,
      top_p: 1,
      top_k: -1,
      n: 1,
      response_length: interpolated('data.max_response_length'),
      val_kwargs: { top_k: -1, top_p: 1, temperature: 0, n: 1, do_sample: false },
    },
  },
  critic: {
    optim: { lr: 1e-5, lr_warmup_steps_ratio: 0, weight_decay: 0.01 },
    ppo_micro_batch_size: null,
    ppo_micro_batch_size_per_gpu: null,
    model: { path: null },
    ppo_mini_batch_size: interpolated('actor_rollout_ref.actor.ppo_mini_batch_size'),
    ppo_epochs: interpolated('actor_rollout_ref.actor.ppo_epochs'),
    grad_clip: 1,
    cliprange_value: 0.5,
  },
  algorithm: {
    gamma: 1,
    lam: 1,
    adv_estimator: 'gae',
    norm_adv_by_std_in_grpo: true,
    use_kl_in_reward: false,
    kl_penalty: 'kl',
    kl_ctrl: { type: 'fixed', kl_coef: 0.001, horizon: 10_000, target_kl: 0.1 },
  },
  trainer: {
    total_epochs: 30,
    total_training_steps: null,
    val_before_train: true,
    test_freq: -1,
    save_freq: -1,
    critic_warmup: 0,
  },
};
