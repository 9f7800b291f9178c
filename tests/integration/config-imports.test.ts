import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importConfig } from '../../core/config-imports/import-config.ts';
import { root, trainer } from './trainer-process.ts';

const file = (name: string) => ({ name, text: readFileSync(join(root, 'tests/core/fixtures/ragen', name), 'utf8') });
const ragen = ['_2_sokoban.yaml', 'base.yaml', 'envs.yaml'].map(file);
const trl = [{ name: 'grpo.yaml', text: 'num_generations: 8\nmax_steps: 300\nper_device_train_batch_size: 64\n' }];
const verlAgent = ['env.env_name=Sokoban', 'env.rollout.n=8', 'data.train_batch_size=16', 'trainer.total_epochs=10'];

const rollout = 'actor_rollout_ref.rollout';
const loss = '+actor_rollout_ref.actor.policy_loss.loss_mode';
const normalized = 'agent_proxy.reward_normalization.method=mean_std';
const turnScores = 'agent_proxy.use_turn_scores=True';
const tag = (name: string) => `es_manager.train.env_configs.tags=[${name}]`;
const preset = (name: string) => `preset=starter-frozen-lake-${name}`;

/** Returns what the trainer reports about a configuration; empty if it is valid. */
const problemOf = (config: unknown) =>
  new Promise<string>((done) => {
    const child = execFile(trainer, ['validate', '-'], (_, __, problem) => done(problem));
    child.stdin!.end(JSON.stringify(config));
  });

test.concurrent.for<[name: string, files: typeof ragen, overrides: string[]]>([
  ...[
    [`+${rollout}.top_p=0.9`, `+${rollout}.top_k=50`],
    ['algorithm.adv_estimator=grpo'],
    ['algorithm.adv_estimator=rloo', turnScores, normalized],
    ['algorithm.adv_estimator=reinforce_plus_plus', turnScores, normalized],
    [turnScores, normalized],
    ['algorithm.bi_level_gae=True', turnScores, normalized],
    ['es_manager.train.group_size=1'],
    [`${loss}=gspo`],
    ['agent_proxy.enable_think=False'],
    [tag('Bandit')],
    [tag('FrozenLake')],
    [tag('SokobanDifferentGridVocab')],
    [tag('WebShop')],
    [tag('WebShop'), '++custom_envs.WebShop.env_config.human_goals=True'],
  ].map((overrides): [string, typeof ragen, string[]] => ['RAGEN', ragen, overrides]),
  ...[
    [`${rollout}.top_p=0.9`, `${rollout}.top_k=50`],
    ['env.rollout.n=1', 'algorithm.filter_groups.enable=True'],
    ['algorithm.adv_estimator=gigpo', 'algorithm.filter_groups.enable=True'],
    ['algorithm.adv_estimator=hgpo'],
    ['algorithm.adv_estimator=gae', `${loss}=gspo`],
    ['env.env_name=Webshop', 'env.max_steps=15'],
    ['env.env_name=Webshop', '++env.webshop.human_goals=True'],
  ].map((overrides): [string, typeof ragen, string[]] => ['verl-agent', [], [...verlAgent, ...overrides]]),
  ...[
    ['+top_p=0.9', '+top_k=50', '+min_p=0.1'],
    ['+loss_type=cispo', '+epsilon_high=5', '+delta=4'],
    ['+loss_type=cispo', '+epsilon_high=1'],
    ['+loss_type=sapo', preset('starpo-s-turn-clip')],
    ['+importance_sampling_level=sequence', '+delta=4', preset('starpo-s-turn-clip')],
    ['+scale_rewards=mean', preset('sampo')],
    ['+scale_rewards=batch', preset('gigpo')],
    ['+multi_objective_aggregation=normalize_then_sum', preset('bi-level-gae')],
  ].map((overrides): [string, typeof ragen, string[]] => ['TRL', trl, overrides]),
])('the trainer accepts the import for %s %#', async ([, files, overrides]) => {
  expect(await problemOf(importConfig(files, overrides).config)).toBe('');
});
