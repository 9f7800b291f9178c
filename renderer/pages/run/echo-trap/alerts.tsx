import type { Alert, EchoTrap, Input } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { stateOfAlert } from '../../../../core/contract/trap-words.ts';
import { useApi } from '../../../api/context.ts';
import { Button, Panel } from '../../../components/basics.tsx';
import { number } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { regimeLabel, stateLabel, toneIcons } from '../../../components/trap-labels.ts';
import { useApp } from '../../../stores/app-store.ts';
import { ActionLine } from './action-line.tsx';
import styles from './alerts.module.css';

/** An alert of the Echo Trap monitor. Alerts of other detectors have no level. */
type TrapAlert = Alert & { level: NonNullable<Alert['level']> };

export const trapAlerts = (alerts: readonly Alert[]): TrapAlert[] =>
  alerts.filter((alert): alert is TrapAlert => alert.level !== null);

export const isOpen = ({ state, snoozedUntil }: Alert, now: number): boolean =>
  state === 'raised' || (state === 'snoozed' && (snoozedUntil ?? 0) <= now);

const newestFirst = (alerts: readonly TrapAlert[]) =>
  alerts.toSorted((a, b) => b.iteration - a.iteration || b.raisedAt - a.raisedAt);

export const newestOpen = (alerts: readonly TrapAlert[]): TrapAlert | undefined =>
  newestFirst(alerts).find((alert) => isOpen(alert, Date.now()));

/** Lists open alerts, newest first, with older ones shortened, and answered alerts in a panel. */
export function Alerts({
  runId,
  alerts,
  signals,
}: {
  runId: string;
  alerts: readonly TrapAlert[];
  signals: EchoTrap['signals'];
}) {
  const now = Date.now();
  const newest = newestFirst(alerts);
  const open = newest.filter((alert) => isOpen(alert, now));
  const answered = newest.filter((alert) => !isOpen(alert, now));
  if (newest.length === 0) return null;
  return (
    <div className={`${styles.alerts} stack`}>
      {open.length > 0 && (
        <ul aria-label="Alerts">
          {open.map((alert, index) => (
            <Item key={alert.id} runId={runId} alert={alert} signals={signals} short={index > 0} />
          ))}
        </ul>
      )}
      {answered.length > 0 && (
        <Panel title="Answered alerts" note={String(answered.length)}>
          <ul aria-label="Answered alerts">
            {answered.map((alert) => (
              <Item key={alert.id} runId={runId} alert={alert} signals={signals} short={false} />
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

/** One hour in ms. */
const snoozeTime = 3_600_000;

/** Returns a function that answers an alert. */
export function useAnswer(runId: string, alertId: string) {
  const api = useApi();
  const report = useApp((state) => state.report);
  return (change: Pick<Input<'alerts.answer'>, 'state' | 'until'>) =>
    void api.call('alerts.answer', { runId, alertId, ...change }).catch(report);
}

/** Buttons that acknowledge or snooze an alert. `subject`: distinguishes the buttons of several alerts. */
export function AlertAnswers({ runId, alertId, subject }: { runId: string; alertId: string; subject?: string }) {
  const answer = useAnswer(runId, alertId);
  const labelOf = (text: string) => (subject === undefined ? text : `${text}: ${subject}`);
  return (
    <>
      <Button writes onClick={() => answer({ state: 'acknowledged' })} label={labelOf('Acknowledge')}>
        Acknowledge
      </Button>
      <Button
        writes
        kind="quiet"
        onClick={() => answer({ state: 'snoozed', until: Date.now() + snoozeTime })}
        label={labelOf('Snooze for 1 hour')}
      >
        Snooze for 1 hour
      </Button>
    </>
  );
}

interface ItemProps {
  runId: string;
  alert: TrapAlert;
  signals: EchoTrap['signals'];
  short: boolean;
}

function Item({ runId, alert, signals, short }: ItemProps) {
  const { message, iteration, since, regime, state } = alert;
  const { word, tone } = stateLabel(stateOfAlert(alert));
  const meaning = signals.find(({ series }) => series !== '' && series === alert.series)?.meaning;
  const open = isOpen(alert, Date.now());
  return (
    <li className={`${styles.alert} wrap`} data-tone={open ? tone : 'calm'}>
      <Icon name={toneIcons[tone]} />
      <div className={styles.body}>
        <p className={styles.title}>
          <strong>{word}</strong> at iteration {iteration}
          {since !== null && since < iteration && `, first signal at iteration ${since}`}
          {regime !== null && regime !== 'unknown' && regime !== 'healthy' && (
            <span className="badge" title={regimeLabel(regime).meaning}>
              {regimeLabel(regime).word}
            </span>
          )}
          {!open && <span className="badge">{state}</span>}
        </p>
        {!short && <p>{message}</p>}
        {short && alert.series !== null && alert.value !== null && (
          <p className={`${styles.seen} muted small`}>
            {metricTitle(alert.series)} {number(alert.value)}
            {alert.baseline !== null && alert.baseline !== 0 && `, baseline ${number(alert.baseline)}`}
          </p>
        )}
        {!short && meaning && <p className={`${styles.seen} muted small`}>{meaning}</p>}
        {alert.action && <ActionLine action={alert.action} />}
      </div>
      {open && (
        <div className={styles.answers}>
          <AlertAnswers runId={runId} alertId={alert.id} subject={`${word} at iteration ${iteration}`} />
        </div>
      )}
    </li>
  );
}
