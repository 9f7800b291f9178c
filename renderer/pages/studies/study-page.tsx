import { useMemo, useState } from 'react';
import type { Study, StudySummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { type Reference, sharedReferences } from '../../charts/references.ts';
import { Button, Empty } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { reportRefusals } from '../../components/refusals.ts';
import { useAction } from '../../components/use-action.ts';
import { hasClusters, useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { useQuery } from '../../stores/use-query.ts';
import { stateLabels, useBaseTitle } from './labels.ts';
import { StudyChart } from './study-chart.tsx';
import { StudyCurves } from './study-curves.tsx';
import { StudyExports } from './study-exports.tsx';
import { StudyTable } from './study-table.tsx';
import { useStudy } from './use-studies.ts';

export function StudyPage({ studyId }: { studyId: string }) {
  const study = useStudy(studyId);
  return (
    <div className="page">
      {study === 'missing' && (
        <Empty title="Sweep not found">
          <a href={formatRoute({ page: 'studies' })}>All sweeps</a>
        </Empty>
      )}
      {study === 'failed' && <Empty title="Can't read the sweep" />}
      {study && study !== 'missing' && study !== 'failed' && <Loaded study={study} />}
    </div>
  );
}

function Loaded({ study: { summary, table } }: { study: Study }) {
  const { name, base, state, runs, environment } = summary;
  const baseTitle = useBaseTitle(base);
  const references = useReferences(table);
  useTitle(name);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{name}</h1>
          <p className="muted">
            {stateLabels[state]}: {runs.completed} of {runs.total} runs completed
            {runs.active > 0 && `, ${runs.active} queued or running`}
            {runs.failed > 0 && `, ${runs.failed} failed`}. Based on {baseTitle}.
          </p>
        </div>
        <div className="wrap">
          <CompareRuns rows={table} />
          <Actions summary={summary} />
        </div>
      </header>
      <StudyChart rows={table} environment={environment} references={references} />
      <StudyTable rows={table} />
      <StudyCurves rows={table} environment={environment} />
      <StudyExports studyId={summary.id} />
    </>
  );
}

/** Settings that determine the reference lines. */
const referenceSettings = /^(environments\.|start\.model$)/;

/** Returns random success, the optimum and the paper's result, if all runs share the environment and model. */
function useReferences(table: Study['table']): Reference[] {
  const differ = table.some(({ set }) => Object.keys(set).some((path) => referenceSettings.test(path)));
  const cell = differ ? undefined : table.flatMap(({ cells }) => cells).find(({ status }) => status !== 'missing');
  const run = useQuery('runs.get', cell ? { runId: cell.runId } : null, 0);
  return useMemo(() => (run.value ? sharedReferences([run.value.config]) : []), [run.value]);
}

/** Links to the comparison once two runs have metrics. */
function CompareRuns({ rows }: { rows: Study['table'] }) {
  const started = rows.flatMap(({ cells }) => cells).filter(({ iteration }) => iteration > 0);
  if (started.length < 2) return null;
  return (
    <a className="button" href={formatRoute({ page: 'compare', runIds: started.map(({ runId }) => runId) })}>
      Compare runs
    </a>
  );
}

function Actions({ summary: { id, name, state, runs } }: { summary: StudySummary }) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const [busy, perform] = useAction();
  const [confirming, setConfirming] = useState(false);
  const canSubmit = useApp(hasClusters);
  const openDialog = useDialogs((store) => store.openDialog);
  const isStartable = state !== 'completed' && runs.active < runs.total - runs.completed;
  async function remove(withRuns: boolean): Promise<void> {
    const { deleted, refused } = await api.call('studies.delete', { studyId: id, runs: withRuns });
    reportRefusals(refused);
    setConfirming(false);
    if (refused.length > 0) return;
    const ids = deleted.map((run) => run.id);
    notify(`${name} deleted.`, () => void api.call('studies.restore', { studyId: id, ids }).catch(report));
    // Stay on the current page if the user has left the sweep's page.
    if (location.hash === formatRoute({ page: 'study', studyId: id })) navigate({ page: 'studies' }, true);
  }
  return (
    <div className="wrap">
      {state === 'active' ? (
        <Button
          writes
          icon="stop"
          disabled={busy}
          onClick={() => perform(() => api.call('studies.cancel', { studyId: id }))}
        >
          Cancel
        </Button>
      ) : (
        <Button writes kind="danger" onClick={() => setConfirming(true)}>
          Delete…
        </Button>
      )}
      {isStartable && canSubmit && (
        <Button writes icon="system" onClick={() => openDialog({ kind: 'submit', jobs: { study: { id, name } } })}>
          Submit to a cluster…
        </Button>
      )}
      {isStartable && (
        <Button
          writes
          kind="primary"
          icon="play"
          disabled={busy}
          onClick={() => perform(() => api.call('studies.start', { studyId: id }))}
        >
          {state === 'created' ? 'Start' : 'Resume'}
        </Button>
      )}
      <Dialog
        open={confirming}
        onClose={() => setConfirming(false)}
        title="Delete sweep?"
        description={<p>Moves {name} to the trash for seven days. Delete its runs too, or keep them in History.</p>}
        actions={
          <>
            <Button onClick={() => setConfirming(false)}>Cancel</Button>
            <Button disabled={busy} onClick={() => perform(() => remove(false))}>
              Delete, keep runs
            </Button>
            <Button kind="danger" disabled={busy} onClick={() => perform(() => remove(true))}>
              Delete with runs
            </Button>
          </>
        }
      />
    </div>
  );
}
