import { useEffect, useId, useState } from 'react';
import type { Checkpoint, RunSummary } from '../../../core/contract/contract.ts';
import { bytes } from '../../../core/contract/numbers.ts';
import { panelWords } from '../../../core/contract/panel-words.ts';
import { onOpen } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { Button, IconButton } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { actions, numeric, TableHead } from '../../components/table-head.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import styles from './checkpoints-panel.module.css';

/** Lists the run's checkpoints with actions: fork, evaluate, pin. */
export function CheckpointsPanel({ run }: { run: RunSummary }) {
  const title = useId();
  const checkpoints = useCheckpoints(run.id);
  if (!checkpoints) return null;
  const panels = run.panels
    .map(({ label }) => `${run.panels.length > 1 ? `${environmentTitle(label)} ` : ''}${panelWords(run.panels, label)}`)
    .join(', ');
  const total = checkpoints.reduce((sum, each) => sum + each.bytes, 0);
  const highest = checkpoints.reduce<number | null>((most, { success }) => maxOf(most, meanOf(success)), null);
  // Of equal checkpoints, the earliest.
  const best = checkpoints.findLast(({ success }) => highest !== null && meanOf(success) === highest);
  return (
    <section aria-labelledby={title}>
      <div className="section-head">
        <h2 id={title}>Checkpoints</h2>
        {checkpoints.length > 0 && (
          <p className="muted">
            {checkpoints.length}, {bytes(total)}
            {best && panels !== '' && `; evaluated on ${panels}`}
          </p>
        )}
      </div>
      <div className={`panel ${styles.panel}`}>
        {checkpoints.length === 0 ? (
          <p className={`muted ${styles.none}`}>
            No checkpoints. The first has not been written yet, or the files were deleted.
          </p>
        ) : (
          <table className={`table ${styles.table}`}>
            <TableHead
              columns={[numeric('Iteration'), 'Success (evaluation)', numeric('Size'), 'Optimizer state', actions]}
            />
            <tbody>
              {checkpoints.map((checkpoint) => (
                <Row key={checkpoint.iteration} run={run} checkpoint={checkpoint} best={checkpoint === best} />
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}

const maxOf = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b));

function meanOf(success: Checkpoint['success']): number | null {
  if (success.length === 0) return null;
  return success.reduce((sum, { rate }) => sum + rate, 0) / success.length;
}

interface RowProps {
  run: RunSummary;
  checkpoint: Checkpoint;
  best: boolean;
}

function Row({ run, checkpoint: { iteration, bytes: size, pinned, optimizer, success }, best }: RowProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const pin = () => void api.call('checkpoints.pin', { runId: run.id, iteration, pinned: !pinned }).catch(report);
  const { openDialog } = useDialogs.getState();
  return (
    <tr>
      <th scope="row" className="numeric">
        {iteration}
      </th>
      <td>
        {success.length === 0 ? (
          <span className="faint">not evaluated</span>
        ) : (
          success.map(({ label, rate }) => (
            <span key={label} className={styles.rate}>
              {percent(rate)} {success.length > 1 && <span className="faint">{environmentTitle(label)}</span>}
            </span>
          ))
        )}{' '}
        {best && <span className="tag">best</span>}
      </td>
      <td className="numeric">{bytes(size)}</td>
      <td>{optimizer ? 'kept' : <span className="faint">removed</span>}</td>
      <td className={styles.actions}>
        <IconButton
          writes
          icon="pin"
          label={pinned ? `Unpin checkpoint ${iteration}` : `Pin checkpoint ${iteration}`}
          pressed={pinned}
          onClick={pin}
        />
        <Button
          writes
          icon="ok"
          onClick={() => openDialog({ kind: 'evaluate', run, checkpoint: iteration })}
          label={`Evaluate checkpoint ${iteration}…`}
        >
          Evaluate…
        </Button>
        <Button
          writes
          icon="fork"
          onClick={() => openDialog({ kind: 'fork', run, checkpoint: iteration })}
          label={`Fork from checkpoint ${iteration}…`}
        >
          Fork…
        </Button>
      </td>
    </tr>
  );
}

/** Returns the checkpoints, newest first; null until loaded. */
function useCheckpoints(runId: string): Checkpoint[] | null {
  const api = useApi();
  const [checkpoints, setCheckpoints] = useState<Checkpoint[] | null>(null);
  useEffect(() => {
    let active = true;
    // Deleted runs and lost connections are reported elsewhere.
    const request = () =>
      void api.call('checkpoints.list', { runId }).then(
        (list) => active && setCheckpoints(list),
        () => {},
      );
    const stops = [
      api.on('checkpoints', request, runId),
      api.on('evaluation', ({ evaluation }) => evaluation.state === 'done' && request(), runId),
      api.on(
        'metrics',
        ({ points }) => {
          const evaluated = points.some(({ metrics }) =>
            Object.keys(metrics).some((name) => name.startsWith('evaluation/')),
          );
          if (evaluated) request();
        },
        runId,
      ),
      onOpen(api, request),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api, runId]);
  return checkpoints;
}
