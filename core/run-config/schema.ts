import { z } from 'zod';
import { promptSchema } from '../environments/prompt.ts';
import { environments } from '../environments/registry.ts';

/** run.json, as docs/formats/run-config.md describes it. Every key is required; nothing has a default. */

export const configVersion = 1;

const integer = (minimum: number, maximum: number) => z.number().int().min(minimum).max(maximum);
const number = (minimum: number, maximum: number) => z.number().min(minimum).max(maximum);

const environmentRules = {
  label: z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -'),
  share: number(0, 1),
  validate: z.boolean(),
  noise: z.enum(['shared', 'independent']),
  max_turns: integer(1, 100),
  max_actions_per_turn: integer(1, 100),
  max_actions: integer(1, 1000),
  prompt: promptSchema(environments.flatMap(({ placeholders }) => placeholders)),
};

const [firstKind, ...furtherKinds] = environments.map(({ type, config }) =>
  z.strictObject({ ...environmentRules, type: z.literal(type), config }),
);
const environment = z.discriminatedUnion('type', [firstKind!, ...furtherKinds]);

const rollout = z.strictObject({
  groups: integer(1, 4096),
  group_size: integer(1, 1024),
  slots: integer(1, 65536),
  temperature: number(0.01, 10),
  top_p: number(0.01, 1),
  top_k: integer(0, 1_000_000),
  min_p: number(0, 1),
  max_response_tokens: integer(1, 65536),
  context: integer(16, 1_048_576),
  think: z.boolean(),
});

const advantage = z.strictObject({
  estimator: z.enum(['grpo', 'dr_grpo', 'rloo', 'gae']),
  gamma: number(0, 1),
  lambda: number(0, 1),
  whiten: z.boolean(),
});

const critic = z.strictObject({
  model: z.enum(['none', 'full', 'head']),
  learning_rate: number(0, 1),
  value_clip: number(0, 1_000_000),
  gradient_clip: number(0, 1_000_000),
  warmup: integer(0, 1_000_000),
});

const kl = z.strictObject({
  coefficient: number(0, 100),
  estimator: z.enum(['k1', 'k2', 'k3']),
  placement: z.enum(['reward', 'loss']),
  reference: z.string(),
});

const policyLoss = z.strictObject({
  clip_low: number(0, 1),
  clip_high: number(0, 10),
  dual_clip: number(0, 100).refine((value) => value === 0 || value >= 1, 'must be 0 (off) or 1 to 100'),
  entropy_coefficient: number(-1, 1),
  average: z.enum(['trajectory', 'token', 'trajectory_sum', 'fixed_length']),
  mini_batch: integer(1, 65536),
  epochs: integer(1, 100),
});

const optimizer = z.strictObject({
  learning_rate: number(0, 1),
  warmup: integer(0, 1_000_000),
  schedule: z.enum(['constant', 'linear', 'cosine']),
  beta1: number(0, 0.999999),
  beta2: number(0, 0.999999),
  epsilon: number(1e-12, 1),
  weight_decay: number(0, 1),
  gradient_clip: number(0, 1_000_000),
  micro_batch_tokens: integer(0, 16_777_216),
  recompute: z.enum(['none', 'elementwise', 'block']),
});

const warmStart = z.strictObject({
  steps_per_iteration: integer(1, 100_000),
  batch: integer(1, 4096),
  plain: number(0, 1),
  positions: number(0, 1),
  careful: number(0, 1),
  mistakes: number(0, 1),
});

const fields = z.strictObject({
  version: z.literal(configVersion),
  preset: z.string().regex(/^[a-z0-9.-]{1,64}$/, 'must be 1 to 64 of a-z, 0-9, . and -'),
  task: z.enum(['reinforce', 'warm_start']),
  seed: integer(0, 4_294_967_295),
  device: z
    .string()
    .regex(/^(auto|cpu|cuda(:[0-9]{1,2})?)$/, 'must be auto, cpu, cuda or cuda:0, cuda:1, ...'),
  threads: integer(0, 256),
  precision: z.enum(['fp32', 'bf16']),
  exactness: z.enum(['exact', 'fast']),
  iterations: integer(1, 1_000_000),
  start: z.strictObject({
    model: z.string().min(1),
    weights: z.enum(['load', 'random']),
    sha256: z.string().regex(/^([0-9a-f]{64})?$/, 'must be 64 hex digits, or empty'),
  }),
  environments: z.array(environment).min(1).max(16),
  rollout,
  levels: z.strictObject({
    train_seed: integer(0, 4_294_967_295),
    validation_seed: integer(0, 4_294_967_295),
    pool: integer(0, 1_000_000_000),
  }),
  reward: z.strictObject({ format_penalty: number(-100, 0) }),
  filter: z.strictObject({ strategy: z.enum(['none', 'fraction', 'top_p']), keep: number(0, 1) }),
  advantage,
  policy_loss: policyLoss,
  optimizer,
  critic,
  kl,
  evaluation: z.strictObject({
    every: integer(0, 1_000_000),
    levels: integer(1, 65536),
    temperature: number(0.01, 10),
  }),
  checkpoint: z.strictObject({ every: integer(0, 1_000_000), keep: integer(1, 100_000) }),
  rollout_files: z.strictObject({ keep_last: integer(0, 1_000_000), keep_every: integer(0, 1_000_000) }),
  storage: z.strictObject({ budget_gigabytes: number(0, 1_000_000) }),
  warm_start: warmStart,
});

export const runConfig = fields.superRefine((config, context) => {
  const issue = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  const labels = new Set<string>();
  for (const [index, each] of config.environments.entries()) {
    if (labels.has(each.label)) issue(['environments', index, 'label'], `"${each.label}" is used twice`);
    labels.add(each.label);
    // Its evaluation would be written over the training episodes.
    if (each.label === 'train')
      issue(['environments', index, 'label'], '"train" is what the training episodes are called');
  }
  if (config.environments.every((each) => each.share === 0)) {
    issue(['environments'], 'at least one environment needs a share above 0');
  }
  if (config.policy_loss.mini_batch % config.rollout.group_size !== 0) {
    issue(
      ['policy_loss', 'mini_batch'],
      `must be a multiple of rollout.group_size (${config.rollout.group_size})`,
    );
  }
  const hasCritic = config.critic.model !== 'none';
  const usesCritic = config.advantage.estimator === 'gae';
  if (usesCritic && !hasCritic) {
    issue(['critic', 'model'], 'must be full or head: advantage.estimator gae needs a critic');
  }
  if (hasCritic && !usesCritic) {
    issue(['critic', 'model'], 'must be none: no advantage.estimator but gae uses a critic');
  }
});

/** The same keys without the rules that span several of them: what JSON Schema can say. */
export const runConfigFields = fields;

export type RunConfig = z.infer<typeof fields>;
export type EnvironmentConfig = RunConfig['environments'][number];
