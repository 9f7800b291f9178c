import { useId, useState } from 'react';
import type { EchoTrap, RunSummary } from '../../../../core/contract/contract.ts';
import { count } from '../../../../core/contract/numbers.ts';
import { isLive } from '../../../../core/contract/run-facts.ts';
import { isAlarm } from '../../../../core/contract/trap-words.ts';
import { endedCollapsed } from '../../../components/basics.tsx';
import { Icon } from '../../../components/icon.tsx';
import { inOrder } from '../../../components/in-order.ts';
import { canTrainFrom } from '../../../components/run-facts.ts';
import { stateLabel, toneIcons } from '../../../components/trap-labels.ts';
import { NotifyChoice } from '../../../notifications/notify-choice.tsx';
import { useRun } from '../../../views/run-view.tsx';
import { ActionLine } from './action-line.tsx';
import { OtherActions } from './advice.tsx';
import { Alerts, isOpen, newestOpen, trapAlerts } from './alerts.tsx';
import styles from './echo-trap-panel.module.css';
import { Indicators } from './indicators.tsx';
import { NextStep } from './next-step.tsx';
import { recommended } from './possible-actions.ts';
import { RegimeMap } from './regime-map.tsx';
import { Risk } from './risk.tsx';
import { Signals } from './signals.tsx';
import { type Verdict, verdictOf } from './verdict.ts';

/** Shows the verdict of the Echo Trap monitor, the strongest evidence and the recommended action. It opens to show all evidence. */
export function EchoTrapPanel({ run }: { run: RunSummary }) {
  const trap = useRun((state) => state.echoTrap);
  const alerts = trapAlerts(useRun((state) => state.alerts));
  const body = useId();
  const [open, setOpen] = useState(false);
  if (!trap)
    return run.task === 'reinforce' && (run.startedAt !== null || mayStart(run)) ? (
      <NoVerdict loading={trap === undefined} />
    ) : null;
  const verdict = verdictOf(run, trap);
  const { word, tone } = stateLabel(verdict.state);
  const openAlerts = alerts.filter((alert) => isOpen(alert, Date.now())).length;
  // A run that has ended after a collapse has the button beside its result.
  const next = endedCollapsed(run) ? undefined : recommended(run, trap.advice);
  return (
    <section className={`panel ${styles.panel}`} data-tone={tone} aria-labelledby={`${body}-title`} data-echo-trap>
      <div className={styles.head}>
        <span className={styles.tone}>
          <Icon name={toneIcons[tone]} size={20} />
        </span>
        <div className={styles.text}>
          <h2 id={`${body}-title`}>
            <button type="button" aria-expanded={open} aria-controls={body} onClick={() => setOpen(!open)}>
              <span>Echo Trap</span>
              <strong className={styles.tone}>{word}</strong>
              {verdict.since && <span className={styles.since}>{verdict.since}</span>}
              {openAlerts > 0 && <span className="badge">{count(openAlerts, 'alert')}</span>}
              <span className={`${styles.more} small`}>
                Evidence <Icon name="chevron" size={11} />
              </span>
            </button>
          </h2>
          <Why reasons={[verdict.summary, ...verdict.why]} />
        </div>
        {next && <NextStep run={run} advice={next} alertId={newestOpen(alerts)?.id} urgent={isAlarm(verdict.state)} />}
      </div>
      <div id={body} hidden={!open}>
        {open && <Body run={run} trap={trap} verdict={verdict} />}
      </div>
    </section>
  );
}

/** Shows the sentence of the state and the strongest evidence. A tooltip has what does not fit. */
function Why({ reasons: [summary, ...evidence] }: { reasons: string[] }) {
  const text = evidence.join(' · ');
  return (
    <>
      <p className={styles.summary} title={summary}>
        {summary}
      </p>
      <p className={`${styles.why} muted`} title={text}>
        {text || '\u00a0'}
      </p>
    </>
  );
}

/** Returns whether a run that has not started may still do so. */
const mayStart = ({ status }: RunSummary) => isLive(status) || status === 'created' || status === 'queued';

/** Reserves the place of the verdict until the monitor has data. */
const NoVerdict = ({ loading }: { loading: boolean }) => (
  <p className={`panel ${styles.none} faint`}>
    <Icon name="watch" size={20} /> Echo Trap: {loading ? 'loading…' : 'no data yet'}
  </p>
);

function Body({ run, trap, verdict }: { run: RunSummary; trap: EchoTrap; verdict: Verdict }) {
  const series = useRun((state) => state.series);
  const alerts = trapAlerts(useRun((state) => state.alerts));
  return (
    <div className={styles.body}>
      <StateHistory history={verdict.history} />
      <Indicators indicators={trap.indicators} signals={trap.signals} />
      {run.lastAction && <ActionLine action={run.lastAction} />}
      <OtherActions run={run} advice={trap.advice} alertId={newestOpen(alerts)?.id} />
      <Alerts runId={run.id} alerts={alerts} signals={trap.signals} />
      <div className={styles.evidence}>
        <div>
          <h3>Signals</h3>
          <Risk trap={trap} />
          <Signals signals={trap.signals} series={series} />
        </div>
        <div>
          <h3>Regime</h3>
          <RegimeMap map={verdict.map} tone={stateLabel(verdict.state).tone} measurable={canTrainFrom(run)} />
        </div>
      </div>
      <Footer calibration={trap.calibration} />
    </div>
  );
}

/** Lists the monitor's previous states. */
function StateHistory({ history }: Pick<EchoTrap, 'history'>) {
  if (history.length < 2) return null;
  return (
    <ol className={`${styles.history} wrap muted small`} aria-label="State history">
      {history.slice(-8).map(({ iteration, state }) => (
        <li key={`${iteration} ${state}`}>
          {stateLabel(state).word} <span>{iteration === 0 ? 'from the start' : `from ${iteration}`}</span>
        </li>
      ))}
    </ol>
  );
}

function Footer({ calibration }: Pick<EchoTrap, 'calibration'>) {
  const { source, models, runs, note } = calibration;
  const origin = source === 'fitted' ? 'fitted on this machine to' : 'calibrated on';
  const runCount = runs > 0 ? `${count(runs, 'run')} of ` : '';
  return (
    <footer className={`${styles.foot} row wrap faint small`}>
      <p>
        Thresholds {origin} {runCount}
        {models.join(', ')}. <Marked text={note} />
      </p>
      <NotifyChoice />
    </footer>
  );
}

/** Renders text between backticks as code. */
function Marked({ text }: { text: string }) {
  return inOrder(text.split('`'), (part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}
