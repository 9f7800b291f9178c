import { useState } from 'react';
import type { Advice, AdviceAction, RunSummary, SettingChange } from '../../../../core/contract/contract.ts';
import { shortValue } from '../../../../core/contract/run-names.ts';
import { settingFacts } from '../../../../core/facts/setting-facts.ts';
import { useApi } from '../../../api/context.ts';
import { Button } from '../../../components/basics.tsx';
import type { IconName } from '../../../components/icon.tsx';
import { settingAt } from '../../../components/setting-at.ts';
import { useApp } from '../../../stores/app-store.ts';
import { useRun } from '../../../views/run-view.tsx';
import styles from './advice.module.css';
import { possibleActions, recommended } from './possible-actions.ts';
import { RollBackButton } from './roll-back-button.tsx';

interface AdviceListProps {
  run: RunSummary;
  advice: readonly Advice[];
  alertId: string | undefined;
}

/** Lists the possible actions besides the recommended one. */
export function OtherActions({ run, advice, alertId }: AdviceListProps) {
  const best = recommended(run, advice);
  const others = possibleActions(run, advice).filter((each) => each !== best);
  if (others.length === 0) return null;
  const commands = others.filter(({ action }) => action.kind === 'command');
  const changes = others.filter(({ action }) => action.kind === 'rollback');
  return (
    <section aria-label="Other actions" className={styles.section}>
      <h3>Other actions</h3>
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
        <ul className={styles.changesList}>
          {changes.map((each) => (
            <li key={each.id}>
              <Item run={run} advice={each} alertId={alertId} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Item({ run, advice, alertId }: ActionProps) {
  const { title, why, action } = advice;
  return (
    <div className={`${styles.item} row wrap`}>
      <div className={styles.description}>
        <p className={styles.title}>{title}</p>
        <p className={`${styles.why} muted small`}>{why}</p>
        {action.kind === 'rollback' && <Changes changes={action.changes} />}
      </div>
      <ActionButton run={run} advice={advice} alertId={alertId} />
    </div>
  );
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

/** Shows the button of a suggested action. Stopping asks for confirmation; rolling back opens a dialog. */
export function ActionButton({ run, advice, alertId }: ActionProps) {
  const { action } = advice;
  const api = useApi();
  const report = useApp((state) => state.report);
  const [state, setState] = useState<'idle' | 'confirming' | 'busy' | 'done'>('idle');
  const [result, setResult] = useState('');

  async function perform(): Promise<void> {
    setState('busy');
    try {
      const { message, state: end } = await api.call('echoTrap.act', {
        runId: run.id,
        adviceId: advice.id,
        ...(alertId === undefined ? {} : { alertId }),
      });
      setResult(message);
      setState(end === 'failed' ? 'idle' : 'done');
    } catch (cause) {
      report(cause);
      setState('idle');
    }
  }

  if (action.kind === 'rollback') return <RollBackButton run={run} advice={{ ...advice, action }} alertId={alertId} />;
  if (state === 'confirming')
    return (
      <fieldset className={`${styles.question} row wrap`}>
        <legend>Writes a checkpoint and stops the run. You can resume it later.</legend>
        <Button kind="primary" onClick={() => void perform()}>
          Stop
        </Button>
        <Button onClick={() => setState('idle')}>Cancel</Button>
      </fieldset>
    );
  const label = commandLabels[action.command];
  return (
    <span className={styles.act}>
      <span className="faint" role="status">
        {result}
      </span>
      <Button
        writes
        kind={advice.preferred ? 'primary' : 'plain'}
        icon={icons[action.command]}
        disabled={state === 'busy'}
        onClick={() => (action.command === 'stop' ? setState('confirming') : void perform())}
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
            {before !== undefined && <s>{shortValue(before)}</s>}
            <strong>{shortValue(value)}</strong>
          </li>
        );
      })}
    </ul>
  );
}
