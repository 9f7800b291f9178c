import { useEffect, useMemo, useState } from 'react';
import type { ExportFormat } from '../../../../core/contract/contract.ts';
import { useApi } from '../../../api/context.ts';
import { Button, Empty, ErrorNote, Progress } from '../../../components/basics.tsx';
import { Icon } from '../../../components/icon.tsx';
import { formatRoute } from '../../../router.ts';
import { useRunSummary } from '../../../stores/app-store.ts';
import { useRun } from '../../../views/run-view.tsx';
import styles from './export-page.module.css';
import { type Format, formatGroups } from './formats.ts';
import { savesFolders } from './save.ts';
import { TextPreview } from './text-preview.tsx';
import { useExport } from './use-export.ts';

/** What can be made of a run for other programs; inside the run's view. */
export function ExportPage() {
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const checkpoints = useCheckpoints(runId, run?.iteration);
  const [chosen, setChosen] = useState<number | null>(null);
  const [open, setOpen] = useState<ExportFormat | null>(null);
  const exporting = useExport(runId);
  const of = useMemo(() => ({ runId }), [runId]);
  const name = run?.name;
  useEffect(() => {
    if (name) document.title = `Export · ${name} · StarPO Studio`;
  }, [name]);
  if (!run)
    return (
      <div className="page">
        <h1>Export</h1>
        <Empty title="Loading the run…" />
      </div>
    );
  const checkpoint = chosen ?? checkpoints?.[0];

  function row(format: Format) {
    const { format: as, title, text, command, isText, ofCheckpoint } = format;
    const busy = exporting.format === as;
    const nothing = ofCheckpoint && checkpoints?.length === 0;
    const wanted = { runId, ...(ofCheckpoint && checkpoint !== undefined && { checkpoint }) };
    return (
      <li key={as} className={styles.format}>
        <div className={styles.words}>
          <h3>{title}</h3>
          <p className="muted">
            {text} {command && <code>{command}</code>}
          </p>
          {ofCheckpoint && checkpoints && checkpoints.length > 0 && (
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
          {nothing && <p className="faint">There is no checkpoint yet.</p>}
        </div>
        <div className={styles.actions}>
          {isText && (
            <Button
              kind="quiet"
              onClick={() => setOpen(open === as ? null : as)}
              label={`${open === as ? 'Hide' : 'Show'} ${title}`}
            >
              {open === as ? 'Hide' : 'Show'}
            </Button>
          )}
          {busy ? (
            <Button icon="close" onClick={exporting.cancel} label={`Give up ${title}`}>
              Give up
            </Button>
          ) : (
            <Button
              icon="download"
              onClick={() => void exporting.start(as, wanted)}
              disabled={exporting.format !== null || nothing === true}
              label={`${verb()} ${title}`}
            >
              {verb()}
            </Button>
          )}
        </div>
        <div className={styles.outcome} role="status">
          {busy && exporting.task !== null && exporting.task.total > 0 && (
            <Progress value={exporting.task.done / exporting.task.total} label={`Exporting ${title}`} />
          )}
          {busy && 'Making the files…'}
          {exporting.said?.format === as && exporting.said.text}
        </div>
        {exporting.problem?.format === as && (
          <div className={styles.wide}>
            <ErrorNote error={exporting.problem.error} />
          </div>
        )}
        {isText && open === as && (
          <div className={styles.wide}>
            <TextPreview of={of} format={as as 'methods'} title={title} />
          </div>
        )}
      </li>
    );
  }

  return (
    <div className={`page ${styles.page}`}>
      <header className="section-head">
        <a className={styles.back} href={formatRoute({ page: 'run', runId })}>
          <Icon name="back" size={14} />
          {run.name}
        </a>
        <h1>Export</h1>
        <p className="muted">
          Files of this run for other programs. The run itself stays as it is
          {run.status === 'running' ? ' and trains on; what is made now goes up to this moment' : ''}.
        </p>
      </header>
      {formatGroups.map(({ title, formats }) => (
        <section key={title} className={`panel ${styles.group}`} aria-label={title}>
          <h2>{title}</h2>
          <ul>{formats.map(row)}</ul>
        </section>
      ))}
    </div>
  );
}

const verb = () => (savesFolders() ? 'Save…' : 'Download');

/** Iterations of the checkpoints that hold weights, newest first; null until they are known. */
function useCheckpoints(runId: string, iteration: number | undefined): number[] | null {
  const api = useApi();
  const [checkpoints, setCheckpoints] = useState<number[] | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that has come further may have a new one
  useEffect(() => {
    let current = true;
    api.call('evaluations.choices', { runId }).then(
      (choices) => current && setCheckpoints(choices.checkpoints),
      // An imported run has none.
      () => current && setCheckpoints([]),
    );
    return () => {
      current = false;
    };
  }, [api, runId, iteration]);
  return checkpoints;
}
