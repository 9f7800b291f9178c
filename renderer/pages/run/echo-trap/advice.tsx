import { useState } from 'react';
import type { Advice, AdviceAction, RunSummary, SettingChange } from '../../../../core/contract/contract.ts';
import { isLive } from '../../../../core/contract/run-facts.ts';
import { settingFacts } from '../../../../core/facts/setting-facts.ts';
import { useApi } from '../../../api/context.ts';
import { navigate } from '../../../base/router.ts';
import { Button } from '../../../components/basics.tsx';
import { Icon, type IconName } from '../../../components/icon.tsx';
import { useApp } from '../../../stores/app-store.ts';
import { useRun } from '../../../views/run-view.tsx';
import styles from './advice.module.css';

interface AdviceListProps {
  run: RunSummary;
  advice: readonly Advice[];
  alertId: string | undefined;
}

/**
 * Lists the suggested actions, the recommended one first. Skips actions that have no effect in this run's
 * configuration.
 */
export function AdviceList({ run, advice, alertId }: AdviceListProps) {
  const possibleAdvice = possibleActions(run, advice);
  const best = possibleAdvice.find(({ preferred }) => preferred) ?? possibleAdvice[0];
  if (!best) return null;
  const others = possibleAdvice.filter((each) => each !== best);
  const commands = others.filter(({ action }) => action.kind === 'command');
  const changes = others.filter(({ action }) => action.kind === 'rollback');
  return (
    <section aria-label="Suggested actions" className={styles.section}>
      <h3>Suggested actions</h3>
      <Item run={run} advice={best} alertId={alertId} />
      {commands.length > 0 && (
        <ul className={`${styles.commands} wrap`}>
          {commands.map((each) => (
            <li key={each.id}>
              <ActionButton run={run} advice={each} alertId={alertId} />
              <span className={`${styles.why} muted small`}>{each.why}</span>
            </li>
          ))}
        </ul>
      )}
      {changes.length > 0 && (
        <details className={styles.more}>
          <summary>
            <Icon name="chevron" size={11} />
            {changes.length === 1 ? 'Another option' : `${changes.length} other options`}
          </summary>
          <ul>
            {changes.map((each) => (
              <li key={each.id}>
                <Item run={run} advice={each} alertId={alertId} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Item({ run, advice, alertId }: ActionProps) {
  const { title, why, preferred, action } = advice;
  return (
    <div className={`${styles.item} row wrap`} data-preferred={preferred || undefined}>
      <div className={styles.description}>
        <p className={styles.title}>
          {title}
          {preferred && <span className="badge">Recommended</span>}
        </p>
        <p className={`${styles.why} muted small`}>{why}</p>
        {action.kind === 'rollback' && <Changes changes={action.changes} />}
      </div>
      <ActionButton run={run} advice={advice} alertId={alertId} />
    </div>
  );
}

/** Returns the actions that are possible in the run's status. For example, a run that has ended can't be paused. */
export function possibleActions({ status }: RunSummary, advice: readonly Advice[]): Advice[] {
  const possible = ({ acts, action }: Advice) =>
    acts && (action.kind === 'rollback' || (isLive(status) && !(action.command === 'pause' && status === 'paused')));
  return advice.filter(possible).toSorted((a, b) => Number(b.preferred) - Number(a.preferred));
}

const icons: Record<Extract<AdviceAction, { kind: 'command' }>['command'], IconName> = {
  pause: 'pause',
  checkpoint: 'checkpoint',
  stop: 'stop',
};
const commandLabels = { pause: 'Pause', checkpoint: 'Checkpoint now', stop: 'Stop' };

interface ActionProps {
  run: RunSummary;
  advice: Advice;
  /** The alert that the action answers. */
  alertId?: string | undefined;
}

/** Shows the button of a suggested action. Stopping and rolling back ask for confirmation. */
export function ActionButton({ run, advice, alertId }: ActionProps) {
  const { action } = advice;
  const api = useApi();
  const report = useApp((state) => state.report);
  const [state, setState] = useState<'idle' | 'confirming' | 'busy' | 'done'>('idle');
  const [result, setResult] = useState('');
  const needsConfirmation = action.kind === 'rollback' || action.command === 'stop';

  async function perform(): Promise<void> {
    setState('busy');
    try {
      const {
        fork,
        message,
        state: end,
      } = await api.call('echoTrap.act', {
        runId: run.id,
        adviceId: advice.id,
        ...(alertId === undefined ? {} : { alertId }),
      });
      setResult(message);
      setState(end === 'failed' ? 'idle' : 'done');
      if (fork !== null && end === 'done') navigate({ page: 'run', runId: fork });
    } catch (cause) {
      report(cause);
      setState('idle');
    }
  }

  if (state === 'confirming') {
    const question =
      action.kind === 'rollback'
        ? `${isLive(run.status) ? 'Stops this run, which is kept, and starts' : 'Starts'} a new run from its last checkpoint up to iteration ${action.notAfter}.`
        : 'Writes a checkpoint and stops the run. You can resume it later.';
    return (
      <fieldset className={`${styles.question} row wrap`}>
        <legend>{question}</legend>
        <Button kind="primary" onClick={() => void perform()}>
          {action.kind === 'rollback' ? 'Roll back' : 'Stop'}
        </Button>
        <Button onClick={() => setState('idle')}>Cancel</Button>
      </fieldset>
    );
  }
  const label = action.kind === 'rollback' ? 'Roll back and continue' : commandLabels[action.command];
  return (
    <span className={styles.act}>
      <span className="faint" role="status">
        {result}
      </span>
      <Button
        kind={advice.preferred ? 'primary' : 'plain'}
        icon={action.kind === 'rollback' ? 'fork' : icons[action.command]}
        disabled={state === 'busy'}
        onClick={() => (needsConfirmation ? setState('confirming') : void perform())}
        label={`${label}: ${advice.title}`}
      >
        {state === 'busy' ? 'Working…' : label}
      </Button>
    </span>
  );
}

/** Lists the settings of the new run that differ from this run's. */
function Changes({ changes }: { changes: readonly SettingChange[] }) {
  const config = useRun((state) => state.config);
  if (changes.length === 0) return <p className={styles.change}>Same settings.</p>;
  return (
    <ul className={`${styles.changes} wrap`} aria-label="Changed settings">
      {changes.map(({ path, value }) => {
        const before = settingAt(config, path);
        return (
          <li key={path} className={styles.change}>
            <span title={path}>{settingFacts(path).title}</span>
            {before !== undefined && <s>{settingText(before)}</s>}
            <strong>{settingText(value)}</strong>
          </li>
        );
      })}
    </ul>
  );
}

const settingText = (value: unknown): string => {
  if (typeof value === 'number') {
    const rounded = Number(value.toPrecision(3));
    return Math.abs(rounded) >= 0.001 || rounded === 0 ? String(rounded) : rounded.toExponential();
  }
  return value === true ? 'on' : value === false ? 'off' : String(value);
};

/** Returns a setting by its path, such as `optimizer.learning_rate`; undefined if it doesn't exist. */
function settingAt(config: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined | null)?.[key], config);
}
