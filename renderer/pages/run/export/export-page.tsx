import { useEffect, useMemo, useState } from 'react';
import { type ExportSource, sampleRunId } from '../../../../core/contract/contract.ts';
import { useApi } from '../../../api/context.ts';
import { formatRoute } from '../../../base/routes.ts';
import { useTitle } from '../../../base/title.ts';
import { BackToRun } from '../../../components/back-to-run.tsx';
import { Empty } from '../../../components/basics.tsx';
import styles from '../../../exports/exports.module.css';
import { FormatRow } from '../../../exports/format-row.tsx';
import { formatGroupsOf } from '../../../exports/formats.ts';
import { useExport } from '../../../exports/use-export.ts';
import { useApp, useRunSummary } from '../../../stores/app-store.ts';
import { useRun } from '../../../views/run-view.tsx';

/** Lists the export formats of a run. Must be inside a RunView. */
export function ExportPage() {
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const checkpoints = useCheckpoints(runId, run !== undefined);
  const [chosen, setChosen] = useState<number | null>(null);
  const exporting = useExport(runId);
  const checkpoint = chosen ?? checkpoints?.[0];
  const source = useMemo<ExportSource>(() => ({ runId }), [runId]);
  const checkpointSource = useMemo<ExportSource>(() => ({ runId, checkpoint }), [runId, checkpoint]);
  const name = run?.name;
  useTitle(name ? `Export · ${name}` : null);
  if (!run || runId === sampleRunId)
    return (
      <div className="page">
        <h1>Export</h1>
        {run ? (
          <Empty title="The sample run can't be exported.">
            <a href={formatRoute({ page: 'new', from: { preset: run.preset } })}>Train your own run from its preset</a>,
            then export your run.
          </Empty>
        ) : (
          <Empty title="Loading the run…" />
        )}
      </div>
    );
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <div className="row wrap">
            <BackToRun runId={runId} name={run.name} />
            <h1>Export</h1>
          </div>
          <p className="muted">
            Export this run for use in other programs. Exporting doesn't change the run.
            {run.status === 'running' && ' The export contains the iterations completed so far.'}
          </p>
        </div>
      </header>
      {formatGroupsOf(run.task).map(({ title, formats }) => (
        <section key={title} className={`panel ${styles.group}`} aria-label={title}>
          <h2>{title}</h2>
          <ul>
            {formats.map((format) =>
              format.ofCheckpoint ? (
                <FormatRow
                  key={format.format}
                  format={format}
                  source={checkpointSource}
                  exporting={exporting}
                  unavailable={checkpoints?.length === 0 ? 'No checkpoint to export.' : null}
                >
                  {checkpoints && checkpoints.length > 0 && (
                    <label className={styles.choice}>
                      Checkpoint
                      <select value={checkpoint} onChange={(event) => setChosen(Number(event.target.value))}>
                        {checkpoints.map((each) => (
                          <option key={each} value={each}>
                            iteration {each}
                          </option>
                        ))}
                      </select>
                    </label>
                  )}
                </FormatRow>
              ) : (
                <FormatRow key={format.format} format={format} source={source} exporting={exporting}>
                  {format.format === 'tensorboard' && run.task !== 'imported' && <TensorBoardHint runId={runId} />}
                </FormatRow>
              ),
            )}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** Explains live logging to TensorBoard: how to turn it on, or its folder. */
function TensorBoardHint({ runId }: { runId: string }) {
  const tensorBoard = useApp((state) => state.tensorBoard);
  if (!tensorBoard) return null;
  const { on, folder } = tensorBoard;
  const settings = <a href={formatRoute({ page: 'settings' })}>Settings</a>;
  if (!on) return <p className="muted">Turn on live logging in {settings}.</p>;
  return (
    <p className="muted">
      Live log folder during training: <code>{`${folder}/${runId}`}</code> (see {settings})
    </p>
  );
}

/**
 * Returns the iterations of checkpoints with weights, newest first; null until loaded. `indexed`: the run is
 * in the run history.
 */
function useCheckpoints(runId: string, indexed: boolean): number[] | null {
  const api = useApi();
  const [checkpoints, setCheckpoints] = useState<number[] | null>(null);
  useEffect(() => {
    if (!indexed) return;
    let active = true;
    const request = () =>
      void api.call('evaluations.choices', { runId }).then(
        (choices) => active && setCheckpoints(choices.checkpoints),
        // Imported runs have none.
        () => active && setCheckpoints([]),
      );
    request();
    const stop = api.on('checkpoints', request, runId);
    return () => {
      active = false;
      stop();
    };
  }, [api, runId, indexed]);
  return checkpoints;
}
