import { type ReactNode, useId } from 'react';
import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button } from '../../components/basics.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { percent } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { canTrainFrom } from '../../components/run-facts.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { useRun, useSeries } from '../../views/run-view.tsx';
import { bestRollBack, successorOf } from './echo-trap/possible-actions.ts';
import { RescueLink } from './echo-trap/rescue-link.tsx';
import { RollBackButton } from './echo-trap/roll-back-button.tsx';
import { describeResult, type Learned, learnedIn, resultSentence, successChange } from './outcome.ts';
import styles from './outcome-panel.module.css';
import { type Idea, ideasFor, sampleIdeas } from './what-next.ts';

/**
 * Shows the result of a run that has ended, with the next steps beside it. Shows the result so far of a live run at the same height,
 * so that its end moves nothing. Shows a collapse and a roll-back of any run.
 */
export function Outcome({ run }: { run: RunSummary }) {
  const title = useId();
  const series = useSeries();
  const loaded = useRun((state) => state.loaded);
  const levels = useRun(({ config }) => levelsOf(config));
  const live = isLive(run.status);
  const learned = learnedIn(series);
  const collapsed = run.collapse !== null && !live;
  // Also without a result: the last evaluation may arrive after the state.
  const expected = run.task === 'reinforce' && (live || run.status === 'stopped' || run.status === 'completed');
  if (!expected && learned.length === 0 && !collapsed) return <Successor run={run} />;
  const facts = describeResult(run, levels, live ? (learned[0]?.last.iteration ?? null) : null);
  const missing = !loaded
    ? 'Loading the result…'
    : live
      ? 'No result before the second evaluation.'
      : 'No result: fewer than two evaluations.';
  return (
    <section
      className={`panel ${styles.outcome}`}
      data-result
      data-collapsed={collapsed || undefined}
      aria-labelledby={title}
    >
      <h2 id={title} className="visually-hidden">
        {live ? 'Result so far' : 'Result'}
      </h2>
      <div className={`${styles.main} wrap`}>
        {collapsed ? <CollapseHeadline run={run} /> : <Success learned={learned} facts={facts} missing={missing} />}
        {!live && (
          <Actions run={run} collapsed={collapsed}>
            {/* Disabled while the result is loading, so that it moves nothing. */}
            {(learned.length > 0 || !loaded) && (
              <CopyButton
                label="Copy result"
                text={resultSentence(run, learned, facts)}
                done="Result copied"
                disabled={!loaded}
              />
            )}
          </Actions>
        )}
      </div>
      {run.stopReason !== null && (
        <p className={styles.note}>
          <Icon name="stop" size={14} />
          <span>Stopped early. {run.stopReason}</span>
        </p>
      )}
      <Successor run={run} />
    </section>
  );
}

/** `missing`: shown without a result. */
function Success({ learned, facts, missing }: { learned: readonly Learned[]; facts: string; missing: string }) {
  return (
    <div className={styles.success}>
      <p className={`${styles.figures} wrap`}>
        {learned.map((each) => (
          <span key={each.label} className={styles.figure}>
            {learned.length > 1 && <span className={styles.label}>{environmentTitle(each.label)}</span>}
            <strong>{successChange(each)}</strong>
          </span>
        ))}
        {learned.length === 0 && <span className="muted">{missing}</span>}
      </p>
      {learned.length > 0 && <p className="muted small">{facts}</p>}
    </div>
  );
}

/** Shows a collapse: `Collapsed: 48.4 % at iteration 40 → 0.0 % at 150. Warned at 16.` */
function CollapseHeadline({ run: { collapse } }: { run: RunSummary }) {
  const { peak, last, warnedAt } = collapse!;
  return (
    <p className={`${styles.collapse} wrap`} role="status">
      <Icon name="critical" size={20} />
      <strong>
        Collapsed: {percent(peak.success)} at iteration {peak.iteration} → {percent(last.success)} at {last.iteration}.
      </strong>
      <span>{warnedAt === null ? 'No warning.' : `Warned at ${warnedAt}.`}</span>
    </p>
  );
}

/** Links a run that was rolled back to the run that continues it. */
function Successor({ run }: { run: RunSummary }) {
  const fork = successorOf(run);
  const name = useApp(({ runs }) => runs?.find(({ id }) => id === fork)?.name);
  if (fork === null) return null;
  return (
    <p className={styles.note}>
      <Icon name="fork" size={14} />
      <span>
        {run.lastAction!.message}{' '}
        {name === undefined ? (
          'The run that continued it was deleted. '
        ) : (
          <>
            Continued in <a href={formatRoute({ page: 'run', runId: fork })}>{name}</a>.{' '}
          </>
        )}
        <RescueLink runId={run.id} />
      </span>
    </p>
  );
}

function Actions({ run, collapsed, children }: { run: RunSummary; collapsed: boolean; children: ReactNode }) {
  const { openDialog } = useDialogs.getState();
  const trap = useRun((state) => state.echoTrap);
  const rollBack = collapsed && trap ? bestRollBack(run, trap.advice) : undefined;
  const canTrain = canTrainFrom(run);
  return (
    <fieldset className={`${styles.actions} wrap`} aria-label="Next steps">
      {rollBack && <RollBackButton run={run} advice={rollBack} primary />}
      {canTrain && run.task === 'reinforce' && run.status === 'completed' && (
        <Button
          writes
          icon="play"
          kind={collapsed ? 'plain' : 'primary'}
          onClick={() => openDialog({ kind: 'train-more', run })}
        >
          Train more…
        </Button>
      )}
      {canTrain && (
        <>
          <Button writes icon="fork" onClick={() => openDialog({ kind: 'fork', run, checkpoint: null })}>
            Fork…
          </Button>
          <Button writes icon="ok" onClick={() => openDialog({ kind: 'evaluate', run, checkpoint: null })}>
            Evaluate…
          </Button>
        </>
      )}
      {run.id !== sampleRunId && (
        <Button icon="export" onClick={() => openDialog({ kind: 'export', run })}>
          Export…
        </Button>
      )}
      {children}
    </fieldset>
  );
}

/** Suggests what to try after a run that has ended. */
export function NextIdeas({ run }: { run: RunSummary }) {
  const title = useId();
  const series = useSeries();
  if (run.status !== 'completed' && (run.collapse === null || isLive(run.status))) return null;
  const learned = run.status === 'completed' ? learnedIn(series) : [];
  if (learned.length === 0 && run.collapse === null) return null;
  const ideas = run.id === sampleRunId ? sampleIdeas(run) : ideasFor(run, learned);
  if (ideas.length === 0) return null;
  return (
    <section className={`panel ${styles.ideas}`} aria-labelledby={title}>
      <h2 id={title}>What to try next</h2>
      <ul>
        {ideas.map((idea) => (
          <li key={idea.label}>
            <span className="muted">{idea.why}</span> <IdeaLink run={run} idea={idea} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function IdeaLink({ run, idea: { label, to } }: { run: RunSummary; idea: Idea }) {
  const openDialog = useDialogs((state) => state.openDialog);
  if ('href' in to) return <a href={to.href}>{label}</a>;
  const onClick = () => {
    if (to.dialog === 'train-more') openDialog({ kind: 'train-more', run });
    else openDialog({ kind: to.dialog, run, checkpoint: to.dialog === 'fork' ? to.checkpoint : null });
  };
  return (
    <button type="button" className={styles.link} onClick={onClick}>
      {label}
    </button>
  );
}

function levelsOf(config: unknown): number | null {
  const levels = (config as { evaluation?: { levels?: unknown } } | null)?.evaluation?.levels;
  return typeof levels === 'number' ? levels : null;
}
