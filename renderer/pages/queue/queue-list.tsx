import { type DragEvent, type KeyboardEvent, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute } from '../../base/routes.ts';
import { ErrorNote, IconButton } from '../../components/basics.tsx';
import { approximateDuration } from '../../components/estimated-time.tsx';
import { Icon } from '../../components/icon.tsx';
import { useApp } from '../../stores/app-store.ts';
import { useFollowed } from '../../stores/use-followed.ts';
import styles from './queue.module.css';
import { useQueueTimes } from './use-queue-times.ts';

/** Shows queued runs, next first. Reorder them by dragging or with Alt and the arrow keys. */
export function QueueList({ queued }: { queued: readonly RunSummary[] }) {
  const queue = useFollowed('queue.list', {}, 'queue').value;
  const move = useMove();
  const times = useQueueTimes(queued);
  const blocked = useApp(({ runs }) => runs?.some(({ status }) => status === 'paused') ?? false);
  const [dragged, setDragged] = useState<string | null>(null);
  return (
    <section className="stack" aria-labelledby="queue">
      <h2 id="queue">Next</h2>
      {queue?.problem && <ErrorNote error={queue.problem} kind="warning" />}
      <ol className={`panel ${styles.list}`}>
        {queued.map((run, index) => (
          <QueuedRun
            key={run.id}
            run={run}
            last={index === queued.length - 1}
            startsIn={times[index] ?? null}
            isWaiting={queue?.reasons[run.id] !== undefined}
            reason={queue?.reasons[run.id] ?? (blocked ? 'Waits for a paused run.' : 'Start time unknown.')}
            move={move}
            dragged={dragged === run.id}
            onDrag={setDragged}
            onDrop={() => dragged && dragged !== run.id && void move(dragged, index + 1)}
          />
        ))}
      </ol>
      <p className="faint small">Drag to reorder, or press Alt+↑ or Alt+↓ on a run.</p>
    </section>
  );
}

interface QueuedRunProps {
  run: RunSummary;
  last: boolean;
  /** Seconds until the run starts; null if unknown. */
  startsIn: number | null;
  /** Whether no device is free for it now. */
  isWaiting: boolean;
  /** Why it waits. */
  reason: string;
  move: (runId: string, position: number) => Promise<void>;
  dragged: boolean;
  onDrag: (runId: string | null) => void;
  onDrop: () => void;
}

function QueuedRun({ run, last, startsIn, isWaiting, reason, move, dragged, onDrag, onDrop }: QueuedRunProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [over, setOver] = useState(false);
  const position = run.queuePosition!;

  function onKeyDown(event: KeyboardEvent<HTMLLIElement>): void {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (!event.altKey || step === 0) return;
    event.preventDefault();
    if (position + step >= 1 && !(last && step > 0)) void move(run.id, position + step);
  }
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <li
      className={styles.waiting}
      draggable
      data-dragged={dragged || undefined}
      data-over={over || undefined}
      onKeyDown={onKeyDown}
      onDragStart={() => onDrag(run.id)}
      onDragEnd={() => onDrag(null)}
      onDragOver={onDragOver}
      onDragLeave={() => setOver(false)}
      onDrop={() => {
        setOver(false);
        onDrop();
      }}
    >
      <span className={styles.grip}>
        <Icon name="grip" size={14} />
      </span>
      <span className={styles.position}>{position}</span>
      <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>
      <span className={styles.facts}>{remaining(run)}</span>
      <span className={styles.facts} title={reason}>
        {startsIn === null || (isWaiting && startsIn < soon) ? reason : startText(startsIn)}
      </span>
      <span className={styles.buttons}>
        <IconButton
          writes
          icon="up"
          label={`Move ${run.name} up`}
          disabled={position === 1}
          onClick={() => void move(run.id, position - 1)}
        />
        <IconButton
          writes
          icon="down"
          label={`Move ${run.name} down`}
          disabled={last}
          onClick={() => void move(run.id, position + 1)}
        />
        <IconButton
          writes
          icon="close"
          label={`Remove ${run.name} from the queue`}
          onClick={() => api.call('queue.remove', { runId: run.id }).catch(report)}
        />
      </span>
    </li>
  );
}

const remaining = ({ iteration, iterations }: RunSummary): string => count(iterations - iteration, 'iteration');

const startText = (seconds: number) =>
  seconds < soon ? 'starts next' : `starts in ${approximateDuration(seconds)} (${timeOfDay(seconds)})`;

const timeOfDay = (seconds: number) =>
  new Date(Date.now() + seconds * 1000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });

function useMove(): (runId: string, position: number) => Promise<void> {
  const api = useApi();
  const report = useApp((state) => state.report);
  return async (runId, position) => {
    await api.call('queue.move', { runId, position }).catch(report);
  };
}

/** Seconds until a start below which no time is shown. */
const soon = 20;
