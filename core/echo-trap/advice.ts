import type { Advice, SettingChange, TrapRegime, TrapState } from '../contract/echo-trap.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { firstIteration } from '../run-config/start.ts';
import { groupsByEnvironment, takesOneStep } from '../run-config/trained-groups.ts';
import { locate, type Tree } from '../run-config/tree.ts';

/** Advice per regime. It never proposes a setting without effect in the configuration (native/src/config/idle_settings.cpp). */

interface Remedy {
  id: string;
  title: string;
  why: string;
  regimes: readonly TrapRegime[];
  /** The setting changes, or the reason why they would have no effect in this configuration. */
  changes: (config: RunConfig) => SettingChange[] | string;
}

const allRegimes: readonly TrapRegime[] = ['template', 'entropy_collapse', 'compressed', 'chaos', 'unknown', 'healthy'];
const lowVariety: readonly TrapRegime[] = ['template', 'entropy_collapse', 'unknown'];

/** Rounds to two significant digits. */
const rounded = (value: number) => Number(value.toPrecision(2));

/** In order of preference: by the measured effect on forks of a run about to collapse (benchmarks/results/remedies.json), then untested ones. */
const remedies: readonly Remedy[] = [
  {
    id: 'gentler_rate',
    title: 'Roll back and cut the learning rate to a third',
    why: 'In our tests, runs resumed before the collapse at a third of the learning rate recovered; at the same rate they collapsed again.',
    regimes: allRegimes,
    changes: ({ optimizer }) => [{ path: 'optimizer.learning_rate', value: rounded(optimizer.learning_rate / 3) }],
  },
  {
    id: 'no_entropy_bonus',
    title: 'Roll back and remove the entropy bonus',
    why: 'The entropy bonus adds to the rise in entropy.',
    regimes: ['chaos'],
    changes: ({ policy_loss }) =>
      policy_loss.entropy_coefficient > 0
        ? [{ path: 'policy_loss.entropy_coefficient', value: 0 }]
        : 'The entropy bonus is already 0.',
  },
  {
    id: 'hold_to_start',
    title: 'Roll back and add a KL penalty',
    why: 'A KL penalty pulls responses back toward the reference format. Use it only against chaos: with low reward std it favors the template.',
    regimes: ['chaos'],
    changes: ({ kl }) => {
      if (kl.coefficient > 0) return 'The run already has a KL penalty.';
      // k1 in the loss has an expected gradient of zero.
      const hasGradient = kl.placement === 'reward' || kl.estimator !== 'k1';
      return [{ path: 'kl.coefficient', value: 0.01 }, ...(hasGradient ? [] : [{ path: 'kl.estimator', value: 'k3' }])];
    },
  },
  {
    id: 'no_kl',
    title: 'Roll back and remove the KL penalty',
    why: 'At low reward std the KL penalty outweighs the reward and erases level-dependent reasoning.',
    regimes: lowVariety,
    changes: ({ kl }) => (kl.coefficient > 0 ? [{ path: 'kl.coefficient', value: 0 }] : 'The KL penalty is already 0.'),
  },
  {
    id: 'entropy_bonus',
    title: 'Roll back and raise the entropy bonus',
    why: 'A small entropy bonus keeps responses varied. Add it early: once all reasoning was identical, it made reasoning varied but random.',
    regimes: [...lowVariety, 'compressed'],
    changes: ({ policy_loss }) =>
      policy_loss.entropy_coefficient >= 0.01
        ? 'The entropy bonus is already 0.01 or more.'
        : [{ path: 'policy_loss.entropy_coefficient', value: 0.01 }],
  },
  {
    id: 'varied_groups',
    title: 'Roll back and filter groups by reward std',
    why: 'StarPO-S trains on the half of the groups with the highest reward std. With twice the groups, the batch is as large as without a filter. In our test with three seeds at the same learning rate, final success did not clearly improve.',
    regimes: [...lowVariety, 'compressed'],
    changes: ({ environments, filter, rollout }) => {
      const groups = 2 * rollout.groups;
      if (rollout.group_size < 2) return 'Groups of one episode have no reward std to filter by.';
      if (filter.strategy !== 'none' && (filter.score !== 'reward_std' || filter.order !== 'largest'))
        return 'The filter does not rank groups by reward std.';
      // Also true for top_p: half of the summed std lies in at most half of the groups.
      if (['fraction', 'top_p'].includes(filter.strategy) && filter.keep <= 0.5)
        return 'The filter already keeps half or less.';
      if (groupsByEnvironment(environments, groups).every((own) => own < 2))
        return 'Each environment would have one group, and the filter always keeps one.';
      return [
        { path: 'filter.strategy', value: 'fraction' },
        { path: 'filter.keep', value: 0.5 },
        { path: 'rollout.groups', value: groups },
      ];
    },
  },
  {
    id: 'clip_higher',
    title: 'Roll back and raise the upper clip range',
    why: 'A higher upper clip range lets unlikely tokens gain probability, which preserves variety.',
    regimes: lowVariety,
    changes: (config) => {
      const { clip_low, clip_high } = config.policy_loss;
      if (config.policy_loss.objective === 'sapo') return 'SAPO has no clip range.';
      if (takesOneStep(config)) return 'There is one optimizer step per iteration, so nothing is clipped.';
      if (clip_high > clip_low) return 'The upper clip range is already larger than the lower one.';
      return [{ path: 'policy_loss.clip_high', value: rounded(1.4 * clip_low) }];
    },
  },
];

const commands = [
  {
    command: 'pause',
    title: 'Pause',
    why: 'Pauses training so that you can inspect the run.',
  },
  {
    command: 'checkpoint',
    title: 'Save a checkpoint now',
    why: 'Saves the current weights.',
  },
  {
    command: 'stop',
    title: 'Stop',
    why: 'Checkpoints are kept. Runs rarely recover from here.',
  },
] as const;

/** States in which a new checkpoint would save a collapsing policy. */
const collapseStates: readonly TrapState[] = ['collapsing', 'collapsed'];

/**
 * Returns advice for a state; empty if the run is healthy. `notAfter`: the last healthy iteration, or null. Advice without effect has a reason; the
 * first one with an effect is preferred. The available checkpoints are not known here.
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
      .filter(({ command }) => command !== 'checkpoint' || !collapseStates.includes(state))
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
  const untrained = whyUntrained(config, firstIteration(config));
  return remedies
    .filter(({ regimes }) => regimes.includes(regime))
    .map(({ id, title, why, changes: changesOf }) => {
      const changes = untrained ?? newChanges(config, changesOf(config));
      const acts = typeof changes !== 'string';
      return {
        id,
        title,
        why,
        action: { kind: 'rollback', notAfter, checkpoint: null, changes: acts ? changes : [] },
        acts,
        reason: acts ? null : changes,
        preferred: false,
      };
    });
}

/** Returns why a fork from iteration `from` would not train the policy at all, or null. */
export function whyUntrained({ optimizer, critic, iterations }: RunConfig, from: number): string | null {
  if (optimizer.learning_rate === 0) return 'The learning rate is 0, so the policy does not change.';
  // A roll-back drops the optimizer state, so the critic warms up again.
  const warmup = critic.model === 'none' ? 0 : critic.warmup;
  return from + warmup >= iterations ? 'No iterations would be left to train the policy.' : null;
}

/** Returns the changes that differ from the configuration, or a reason if there are none. */
function newChanges(config: RunConfig, changes: SettingChange[] | string): SettingChange[] | string {
  if (typeof changes === 'string') return changes;
  const others = changes.filter(({ path, value }) => {
    const found = locate(config as unknown as Tree, path);
    return found?.parent[found.key] !== value;
  });
  return others.length > 0 ? others : 'These settings are already in use.';
}
