import { useEffect, useMemo, useState } from 'react';
import type { Study, StudySummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute, navigate } from '../../base/router.ts';
import { type Reference, sharedReferences } from '../../charts/references.ts';
import { Button, Empty } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { reportRefused } from '../../components/refused.ts';
import { useDoing } from '../../components/use-doing.ts';
import { useApp } from '../../stores/app-store.ts';
import { useAnswer } from '../../stores/use-answer.ts';
import { StudyChart } from './study-chart.tsx';
import { StudyExports } from './study-exports.tsx';
import styles from './study-page.module.css';
import { StudyTable } from './study-table.tsx';
import { useStudy } from './use-studies.ts';
import { stateWords, useBaseWords } from './words.ts';

export function StudyPage({ studyId }: { studyId: string }) {
  const study = useStudy(studyId);
  return (
    <div className="page">
      {study === 'gone' && (
        <Empty title="No such study">
          <a href={formatRoute({ page: 'studies' })}>All studies</a>
        </Empty>
      )}
      {study && study !== 'gone' && <Known study={study} />}
    </div>
  );
}

function Known({ study: { summary, table } }: { study: Study }) {
  const { name, base, state, runs, environment } = summary;
  const words = useBaseWords(base);
  const references = useReferences(table);
  useEffect(() => {
    document.title = `${name} · StarPO Studio`;
  }, [name]);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{name}</h1>
          <p className="muted">
            {stateWords[state]}: {runs.completed} of {runs.total} runs complete
            {runs.active > 0 && `, ${runs.active} queued or trained`}
            {runs.failed > 0 && `, ${runs.failed} failed`}. Made from {words}.
          </p>
        </div>
        <div className={styles.actions}>
          <CompareRuns rows={table} />
          <Actions summary={summary} />
        </div>
      </header>
      <StudyChart rows={table} environment={environment} references={references} />
      <StudyTable rows={table} />
      <StudyExports studyId={summary.id} />
    </>
  );
}

/** Of the configuration that all points share, as far as these lines go by it. */
const decisive = /^(environments\.|start\.model$)/;

/** Chance, the best that there is to reach and the paper's number, where all points play the same with the same model. */
function useReferences(table: Study['table']): Reference[] {
  const differ = table.some(({ set }) => Object.keys(set).some((path) => decisive.test(path)));
  const made = differ
    ? undefined
    : table.flatMap(({ cells }) => cells).find(({ status }) => status !== 'missing');
  const run = useAnswer('runs.get', made ? { runId: made.runId } : null, 0);
  return useMemo(() => (run.value ? sharedReferences([run.value.config]) : []), [run.value]);
}

/** Its runs over one another, once two have values. */
function CompareRuns({ rows }: { rows: Study['table'] }) {
  const begun = rows.flatMap(({ cells }) => cells).filter(({ iteration }) => iteration > 0);
  if (begun.length < 2) return null;
  return (
    <a className="button" href={formatRoute({ page: 'compare', runIds: begun.map(({ runId }) => runId) })}>
      Compare these runs
    </a>
  );
}

function Actions({ summary: { id, name, state, runs } }: { summary: StudySummary }) {
  const api = useApi();
  const { report, tell } = useApp.getState();
  const [busy, doing] = useDoing();
  const [asks, setAsks] = useState(false);
  async function remove(withRuns: boolean): Promise<void> {
    const { deleted, refused } = await api.call('studies.delete', { studyId: id, runs: withRuns });
    reportRefused(refused);
    setAsks(false);
    if (refused.length > 0) return;
    const ids = deleted.map((run) => run.id);
    tell(`${name} deleted.`, () => void api.call('studies.restore', { studyId: id, ids }).catch(report));
    // Whoever has gone elsewhere meanwhile stays there.
    if (location.hash === formatRoute({ page: 'study', studyId: id })) navigate({ page: 'studies' }, true);
  }
  return (
    <div className={styles.actions}>
      {state === 'active' ? (
        <Button
          icon="stop"
          disabled={busy}
          onClick={() => doing(() => api.call('studies.cancel', { studyId: id }))}
        >
          Cancel
        </Button>
      ) : (
        <Button kind="danger" onClick={() => setAsks(true)}>
          Delete…
        </Button>
      )}
      {state !== 'completed' && runs.active < runs.total - runs.completed && (
        <Button
          kind="primary"
          icon="play"
          disabled={busy}
          onClick={() => doing(() => api.call('studies.start', { studyId: id }))}
        >
          {state === 'created' ? 'Start' : 'Go on'}
        </Button>
      )}
      <Dialog
        open={asks}
        onClose={() => setAsks(false)}
        title="Delete the study?"
        description={
          <p>
            {name} goes to the trash for seven days. Its runs can go with it, or stay in the history by
            themselves.
          </p>
        }
        actions={
          <>
            <Button onClick={() => setAsks(false)}>Keep it</Button>
            <Button disabled={busy} onClick={() => doing(() => remove(false))}>
              Delete, keep its runs
            </Button>
            <Button kind="danger" disabled={busy} onClick={() => doing(() => remove(true))}>
              Delete with its runs
            </Button>
          </>
        }
      />
    </div>
  );
}
