import type { AlertAction } from '../../../../core/contract/contract.ts';
import { knownWord } from '../../../../core/contract/open-words.ts';
import { formatRoute } from '../../../base/routes.ts';
import { ago } from '../../../components/format.ts';
import { Icon, type IconName } from '../../../components/icon.tsx';
import { useApp } from '../../../stores/app-store.ts';
import styles from './action-line.module.css';

const actorLabels = { monitor: 'Automatic action', user: 'Manual action' };
const stateLabels = { begun: 'In progress', done: '', failed: 'Action failed' };
const icons: Record<string, IconName> = { begun: 'reset', done: 'ok', failed: 'warning' };

/** Describes an automatic or manual action on an alert, with a link to the new run. */
export function ActionLine({ action }: { action: AlertAction }) {
  const { by, state, message, fork, changedAt } = action;
  const name = useApp(({ runs }) => runs?.find(({ id }) => id === fork)?.name);
  return (
    <p className={styles.action} data-state={state}>
      <Icon name={knownWord(icons, state) ?? 'ok'} size={14} />
      <span>
        <strong>{(knownWord(stateLabels, state) ?? state) || (knownWord(actorLabels, by) ?? by)}:</strong> {message}{' '}
        {fork !== null && name !== undefined && <a href={formatRoute({ page: 'run', runId: fork })}>Go to {name}</a>}{' '}
        <span className="faint">{ago(changedAt, Date.now())}</span>
      </span>
    </p>
  );
}
