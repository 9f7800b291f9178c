import type { Advice, SettingChange, TrapRegime, TrapState } from '../contract/echo-trap.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { groupsByEnvironment, mostTrainedEpisodes } from '../run-config/trained-groups.ts';
import { locate, type Tree } from '../run-config/tree.ts';

/** What helps in a regime, for one configuration: nothing that the trainer lists among the settings that can't act in it (native/src/config/idle_settings.cpp). */

interface Remedy {
  id: string;
  title: string;
  why: string;
  regimes: readonly TrapRegime[];
  /** What it sets where the policy is trained; a text where it can't act in this configuration. */
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
    changes: ({ optimizer }) => [
      { path: 'optimizer.learning_rate', value: rounded(optimizer.learning_rate / 3) },
    ],
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
    changes: ({ kl }) => {
      if (kl.coefficient > 0) return 'There is such a penalty already.';
      // The gradient of k1 in the loss is zero on average: it pulls nowhere.
      const pulls = kl.placement === 'reward' || kl.estimator !== 'k1';
      return [
        { path: 'kl.coefficient', value: 0.01 },
        ...(pulls ? [] : [{ path: 'kl.estimator', value: 'k3' }]),
      ];
    },
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
    changes: ({ environments, filter, rollout }) => {
      const groups = 2 * rollout.groups;
      if (rollout.group_size < 2) return 'Groups of one episode have no spread to choose by.';
      // Of top_p too: half of the spread lies in half of the groups or fewer.
      if (filter.strategy !== 'none' && filter.keep <= 0.5) return 'The filter keeps half or less already.';
      if (groupsByEnvironment(environments, groups).every((own) => own < 2))
        return 'Each environment would have one group, and the filter keeps at least one.';
      return [
        { path: 'filter.strategy', value: 'fraction' },
        { path: 'filter.keep', value: 0.5 },
        { path: 'rollout.groups', value: groups },
      ];
    },
  },
  {
    id: 'clip_higher',
    title: 'Go back and clip higher',
    why: 'A higher upper clip lets rare words grow, so that variety lasts longer.',
    regimes: template,
    changes: (config) => {
      const { clip_low, clip_high, epochs, mini_batch } = config.policy_loss;
      if (epochs === 1 && mostTrainedEpisodes(config) <= mini_batch)
        return 'There is one step an iteration, so the ratio is 1 and nothing is ever clipped.';
      if (clip_high > clip_low) return 'The upper clip is higher already.';
      return [{ path: 'policy_loss.clip_high', value: rounded(1.4 * clip_low) }];
    },
  },
];

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

/** States in which a checkpoint would keep a policy that has begun to fall. */
const falling: readonly TrapState[] = ['collapsing', 'collapsed'];

/**
 * Advice for a state; none where nothing is wrong. `notAfter`: the newest healthy iteration, null where there was none.
 * Those that wouldn't act say why; the first that acts is the preferred one. Which checkpoints there are isn't known here, so a roll-back is offered where it would act from one of them.
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
      .filter(({ command }) => command !== 'checkpoint' || !falling.includes(state))
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
  const untrained = whyUntrained(config, config.start.run === '' ? 0 : config.start.checkpoint);
  return remedies
    .filter(({ regimes }) => regimes.includes(regime))
    .map(({ id, title, why, changes: changesOf }) => {
      const changes = untrained ?? newIn(config, changesOf(config));
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

/** Why the policy stays as it is, whatever else is set, in a run that goes on from a checkpoint; null where it is trained. */
export function whyUntrained({ optimizer, critic, iterations }: RunConfig, from: number): string | null {
  if (optimizer.learning_rate === 0) return 'The learning rate is 0: the policy stays as it is.';
  // A roll-back keeps no optimiser state, so a critic is warmed up again, from there on.
  const warmup = critic.model === 'none' ? 0 : critic.warmup;
  return from + warmup >= iterations ? 'No iteration would be left in which the policy is trained.' : null;
}

/** The changes that a configuration doesn't have already; a text where there are none. */
function newIn(config: RunConfig, changes: SettingChange[] | string): SettingChange[] | string {
  if (typeof changes === 'string') return changes;
  const others = changes.filter(({ path, value }) => {
    const place = locate(config as unknown as Tree, path);
    return place?.parent[place.key] !== value;
  });
  return others.length > 0 ? others : 'It is set so already.';
}
