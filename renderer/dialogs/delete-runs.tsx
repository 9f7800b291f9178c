import { useEffect, useState } from 'react';
import type { Output, RunSummary } from '../../core/contract/contract.ts';
import { bytes } from '../../core/contract/numbers.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { parseRoute } from '../base/routes.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from '../components/dialog-content.module.css';
import { reportRefusals } from '../components/refusals.ts';
import { useAction } from '../components/use-action.ts';
import { useApp } from '../stores/app-store.ts';
import { useQuery } from '../stores/use-query.ts';
import { StepProgress, useTaskProgress } from './task-progress.tsx';

interface RunsProps {
  runs: readonly RunSummary[];
  close: () => void;
}

const count = (runs: readonly unknown[]) => (runs.length === 1 ? '1 run' : `${runs.length} runs`);

/** Moves runs to the trash after confirmation, with Undo. */
export function DeleteRuns({ runs, close }: RunsProps) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const [busy, perform] = useAction();
  const live = runs.filter(({ status }) => isLive(status));
  const deletable = runs.filter((run) => !live.includes(run));
  const size = useSizeOf(deletable);
  const single = deletable.length === 1 ? deletable[0] : runs.length === 1 ? runs[0] : undefined;

  async function remove(): Promise<void> {
    const { deleted, refused } = await api.call('runs.delete', { runIds: deletable.map(({ id }) => id) });
    reportRefusals(refused);
    const ids = deleted.map(({ id }) => id);
    const name = deleted.length === 1 ? deleted[0]!.name : count(deleted);
    if (ids.length > 0) notify(`${name} deleted.`, () => void api.call('trash.restore', { ids }).catch(report));
    close();
    leaveDeletedRun(deleted.map(({ runId }) => runId));
  }
  return (
    <Dialog
      onClose={close}
      title={single ? `Delete ${single.name}?` : `Delete ${count(deletable.length > 0 ? deletable : runs)}?`}
      description={
        deletable.length > 0 &&
        `${
          size === null ? '' : `${bytes(size)} on disk. `
        }Moves to Trash for 7 days. Empty the trash to free the space now.`
      }
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" icon="trash" disabled={busy || deletable.length === 0} onClick={() => perform(remove)}>
            {busy ? 'Deleting…' : 'Delete'}
          </Button>
        </>
      }
    >
      {deletable.length > 1 && <Names runs={deletable} />}
      {live.length > 0 && (
        <p className={styles.warning}>
          {runs.length === 1
            ? 'This run is running or paused. Stop it first.'
            : `${count(live)} ${live.length === 1 ? 'is' : 'are'} running or paused and won't be deleted.`}
        </p>
      )}
    </Dialog>
  );
}

const nothing: Output<'runs.cleanable'> = { episodes: 0, checkpoints: 0, refused: [] };

/** Leaves the page of a deleted run. */
function leaveDeletedRun(runIds: readonly string[]): void {
  const route = parseRoute(location.hash);
  if ('runId' in route && route.runId && runIds.includes(route.runId)) navigate({ page: 'history', tab: 'runs' }, true);
}

/** Deletes episodes and checkpoints of runs. Nothing is selected at first, and starred runs are excluded. Closing the dialog cancels the rest; files deleted so far stay deleted. */
export function CleanRuns({ runs, close }: RunsProps) {
  const api = useApi();
  const { notify } = useApp.getState();
  const [cleanable, setCleanable] = useState<Output<'runs.cleanable'> | null>(null);
  const [episodes, setEpisodes] = useState(false);
  const [checkpoints, setCheckpoints] = useState(false);
  const [busy, perform] = useAction();
  const [withStarred, setWithStarred] = useState(false);
  const allEnded = runs.filter(({ status }) => !isLive(status));
  const starred = allEnded.filter(({ marks }) => marks.starred);
  const ended = withStarred ? allEnded : allEnded.filter((run) => !starred.includes(run));
  const ids = ended.map(({ id }) => id).join(' ');
  const cleaning = useTaskProgress('clean', ended.length === 1 ? ended[0]!.id : null);
  useEffect(() => {
    let active = true;
    const request = ids === '' ? Promise.resolve(nothing) : api.call('runs.cleanable', { runIds: ids.split(' ') });
    request.then((answer) => active && setCleanable(answer), useApp.getState().report);
    return () => {
      active = false;
    };
  }, [api, ids]);
  const freed = (episodes ? (cleanable?.episodes ?? 0) : 0) + (checkpoints ? (cleanable?.checkpoints ?? 0) : 0);

  async function clean(): Promise<void> {
    const result = await api.call('runs.clean', { runIds: ids.split(' '), episodes, checkpoints });
    reportRefusals(result.refused);
    notify(`${bytes(result.bytes)} freed.`);
    close();
  }
  const cancel = () => {
    if (busy && cleaning) void api.call('tasks.cancel', { taskId: cleaning.id }).catch(() => {});
    close();
  };
  return (
    <Dialog
      onClose={cancel}
      title="Free disk space"
      description={`For ${runs.length === 1 ? runs[0]!.name : count(ended)}. This can't be undone. Metrics, logs and notes are kept.`}
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button kind="danger" disabled={busy || freed === 0} onClick={() => perform(clean)}>
            {freed > 0 ? `Free ${bytes(freed)}` : episodes || checkpoints ? 'Nothing to free' : 'Free'}
          </Button>
        </>
      }
    >
      {busy ? (
        <StepProgress step={{ label: 'Deleting', share: cleaning?.share ?? null }} />
      ) : (
        <>
          <label className={styles.choice}>
            <input type="checkbox" checked={episodes} onChange={() => setEpisodes(!episodes)} />
            <span>
              Training episodes {cleanable && <span className="faint">{bytes(cleanable.episodes)}</span>}
              <small>You can no longer replay or search them. Evaluation episodes are kept.</small>
            </span>
          </label>
          <label className={styles.choice}>
            <input type="checkbox" checked={checkpoints} onChange={() => setCheckpoints(!checkpoints)} />
            <span>
              Intermediate checkpoints {cleanable && <span className="faint">{bytes(cleanable.checkpoints)}</span>}
              <small>Keeps the first, newest, best and pinned checkpoints, and those that other runs still need.</small>
            </span>
          </label>
          {starred.length > 0 && (
            <label className={styles.choice}>
              <input type="checkbox" checked={withStarred} onChange={() => setWithStarred(!withStarred)} />
              <span>
                Include {starred.length === 1 ? '1 starred run' : `${starred.length} starred runs`}
                <small>Otherwise, starred runs are skipped.</small>
              </span>
            </label>
          )}
        </>
      )}
      {allEnded.length < runs.length && <p className={styles.warning}>Running and paused runs are skipped.</p>}
    </Dialog>
  );
}

export function EmptyTrash({ close }: { close: () => void }) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const empty = () => {
    api.call('trash.empty', {}).then(({ bytes: freed }) => notify(`${bytes(freed)} freed.`), report);
    close();
  };
  return (
    <Dialog
      onClose={close}
      title="Empty the trash?"
      description="Permanently deletes its runs and sweeps and frees their disk space."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" icon="trash" onClick={empty}>
            Empty trash
          </Button>
        </>
      }
    />
  );
}

const maxNames = 6;

function Names({ runs }: { runs: readonly RunSummary[] }) {
  return (
    <ul className={styles.names}>
      {runs.slice(0, maxNames).map(({ id, name }) => (
        <li key={id}>{name}</li>
      ))}
      {runs.length > maxNames && <li className="faint">and {runs.length - maxNames} more</li>}
    </ul>
  );
}

/** Returns the runs' bytes on disk; null until measured. */
function useSizeOf(runs: readonly RunSummary[]): number | null {
  const sizes = useQuery('runs.sizes', {}, 0).value;
  if (sizes === null) return null;
  const ids = new Set(runs.map(({ id }) => id));
  return sizes.runs.reduce((sum, { runId, total }) => sum + (ids.has(runId) ? total : 0), 0);
}
