import type { Advice, SettingChange, TrapRegime, TrapState } from '../contract/echo-trap.ts';
import type { RunConfig } from '../run-config/run-config.ts';

/** What helps in a regime, for one configuration. */

interface Remedy {
  id: string;
  title: string;
  why: string;
  regimes: readonly TrapRegime[];
  /** What it changes; a text where it can't act in this configuration. */
  changes: (config: RunConfig) => SettingChange[] | string;
}

const everywhere: readonly TrapRegime[] = [
  'template',
  'entropy_collapse',
  'compressed',
  'chaos',
  'unknown',
  'healthy',
];
const template: readonly TrapRegime[] = ['template', 'entropy_collapse', 'unknown'];

/** Two digits, so that a third of a rate reads well. */
const rounded = (value: number) => Number(value.toPrecision(2));

/** The preferred ones first: in the order of what they did for forks of a run that was about to fall (benchmarks/results/remedies.json), those that weren't tried there after them. */
const remedies: readonly Remedy[] = [
  {
    id: 'gentler_rate',
    title: 'Go back and learn three times slower',
    why: 'Runs that go on from before the fall with a third of the learning rate keep what they had learned; with the same rate they wander or fall again.',
    regimes: everywhere,
    changes: ({ optimizer }) =>
      optimizer.learning_rate > 0
        ? [{ path: 'optimizer.learning_rate', value: rounded(optimizer.learning_rate / 3) }]
        : 'The learning rate is 0 already.',
  },
  {
    id: 'no_entropy_bonus',
    title: 'Go back and drop the entropy bonus',
    why: 'The bonus pays for chance; where entropy rises by itself it pushes the same way.',
    regimes: ['chaos'],
    changes: ({ policy_loss }) =>
      policy_loss.entropy_coefficient > 0
        ? [{ path: 'policy_loss.entropy_coefficient', value: 0 }]
        : 'There is no entropy bonus.',
  },
  {
    id: 'hold_to_start',
    title: 'Go back and hold the policy to its start',
    why: 'A penalty for leaving the starting policy pulls replies back to their form. It is for chaos alone: where rewards have no spread it feeds the template.',
    regimes: ['chaos'],
    changes: ({ kl }) =>
      kl.coefficient > 0 ? 'There is such a penalty already.' : [{ path: 'kl.coefficient', value: 0.01 }],
  },
  {
    id: 'no_kl',
    title: 'Go back and drop the KL penalty',
    why: 'Where rewards have little spread, the pull towards the reference outweighs them and wipes out what thoughts say of their boards.',
    regimes: template,
    changes: ({ kl }) =>
      kl.coefficient > 0 ? [{ path: 'kl.coefficient', value: 0 }] : 'There is no KL penalty.',
  },
  {
    id: 'entropy_bonus',
    title: 'Go back and pay for variety',
    why: 'A small bonus on entropy pays for other words than the usual ones. It has to come early: variety that was gone came back with no setting that was tried.',
    regimes: [...template, 'compressed'],
    changes: ({ policy_loss }) =>
      policy_loss.entropy_coefficient >= 0.01
        ? 'The bonus is large already.'
        : [{ path: 'policy_loss.entropy_coefficient', value: 0.01 }],
  },
  {
    id: 'varied_groups',
    title: 'Go back and train on the groups that differ',
    why: 'StarPO-S learns from the half of the groups whose rewards differ most; twice as many groups keep an update as large as it was. With the rate left as it was it saved no run of ours.',
    regimes: [...template, 'compressed'],
    changes: ({ filter, rollout }) => {
      if (rollout.group_size < 2) return 'Groups of one episode have no spread to choose by.';
      if (filter.strategy !== 'none' && filter.keep <= 0.5) return 'The filter keeps half or less already.';
      return [
        { path: 'filter.strategy', value: 'fraction' },
        { path: 'filter.keep', value: 0.5 },
        { path: 'rollout.groups', value: 2 * rollout.groups },
      ];
    },
  },
  {
    id: 'clip_higher',
    title: 'Go back and clip higher',
    why: 'A higher upper clip lets rare words grow, so that variety lasts longer.',
    regimes: template,
    changes: (config) => {
      if (stepsAnIteration(config) <= 1)
        return 'There is one step an iteration, so the ratio is 1 and nothing is ever clipped.';
      if (config.policy_loss.clip_high > config.policy_loss.clip_low)
        return 'The upper clip is higher already.';
      return [{ path: 'policy_loss.clip_high', value: rounded(1.4 * config.policy_loss.clip_low) }];
    },
  },
];

/** Optimiser steps of one iteration: with a single one the data is always of the policy that it trains. */
function stepsAnIteration({ filter, rollout, policy_loss }: RunConfig): number {
  const share = filter.strategy === 'none' ? 1 : filter.keep;
  const kept = Math.max(1, Math.ceil(share * rollout.groups)) * rollout.group_size;
  return Math.ceil(kept / policy_loss.mini_batch) * policy_loss.epochs;
}

const commands = [
  {
    command: 'pause',
    title: 'Pause',
    why: 'Nothing more is lost while you look.',
  },
  {
    command: 'checkpoint',
    title: 'Save a checkpoint now',
    why: 'What was learned so far is kept, whatever comes.',
  },
  {
    command: 'stop',
    title: 'Stop',
    why: 'What was learned lies in the checkpoints; to train on costs time and seldom brings it back.',
  },
] as const;

/**
 * Advice for a state; none where nothing is wrong. `notAfter`: the newest healthy iteration, null where there was none.
 * Those that wouldn't act say why; the first that acts is the preferred one.
 */
export function adviceFor(
  state: TrapState,
  regime: TrapRegime,
  config: RunConfig | null,
  notAfter: number | null,
): Advice[] {
  if (state === 'healthy' || state === 'solved') return [];
  const rollbacks = config ? remediesFor(regime, config, notAfter ?? 0) : [];
  const preferred = rollbacks.findIndex(({ acts }) => acts);
  return [
    ...rollbacks.map((each, i) => ({ ...each, preferred: i === preferred })),
    ...commands
      .filter(({ command }) => command !== 'checkpoint' || state === 'watch' || state === 'locked')
      .map(({ command, title, why }) => ({
        id: command,
        title,
        why,
        action: { kind: 'command' as const, command },
        acts: true,
        reason: null,
        preferred: false,
      })),
  ];
}

function remediesFor(regime: TrapRegime, config: RunConfig, notAfter: number): Advice[] {
  return remedies
    .filter(({ regimes }) => regimes.includes(regime))
    .map(({ id, title, why, changes: changesOf }) => {
      const changes = changesOf(config);
      const acts = typeof changes !== 'string';
      return {
        id,
        title,
        why,
        action: { kind: 'rollback', notAfter, changes: acts ? changes : [] },
        acts,
        reason: acts ? null : changes,
        preferred: false,
      };
    });
}
