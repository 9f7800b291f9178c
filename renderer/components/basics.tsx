import type { ReactNode } from 'react';
import type { ApiError, KnownRunStatus, RunStatus, RunSummary } from '../../core/contract/contract.ts';
import { knownWord } from '../../core/contract/open-words.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import { useWriteLock } from '../stores/write-access.ts';
import { Icon, type IconName } from './icon.tsx';
import { inOrder } from './in-order.ts';

const statusLabels: Record<KnownRunStatus, string> = {
  created: 'Not started',
  queued: 'Queued',
  running: 'Running',
  paused: 'Paused',
  stopped: 'Stopped',
  completed: 'Completed',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

/** Returns the words for a status. An unknown status, from a newer version, is shown by its name. */
export const statusLabel = (status: RunStatus): string => knownWord(statusLabels, status) ?? status;

type Displayed = Pick<RunSummary, 'status' | 'stalled' | 'collapse' | 'job' | 'startedAt' | 'endedAt'>;

/** Returns whether a run that has ended is shown as collapsed. A live run keeps its status, because it may recover. */
export const endedCollapsed = ({ status, collapse }: Pick<RunSummary, 'status' | 'collapse'>): boolean =>
  collapse !== null && (status === 'completed' || status === 'stopped');

interface Display {
  color: string;
  label: string;
}

/** Returns how the job of a run that isn't training is shown; null if the run's own state is newer. */
function jobDisplay({ status, job, startedAt, endedAt }: Displayed): Display | null {
  if (!job || isLive(status) || status === 'completed') return null;
  switch (job.phase) {
    case 'pending':
      if (job.impossible) return { color: 'failed', label: "Can't run" };
      return job.held ? { color: 'created', label: 'Held' } : { color: 'queued', label: 'Pending' };
    case 'running':
      // If the run has stopped or failed, its job is about to end.
      return status === 'created' || status === 'interrupted' ? { color: 'queued', label: 'Starting' } : null;
    case 'unknown':
      return { color: 'interrupted', label: 'Unknown' };
    case 'ended': {
      const isNewer = job.submitted > Math.max(startedAt ?? 0, endedAt ?? 0);
      return job.failed && isNewer ? { color: 'failed', label: 'Failed' } : null;
    }
  }
}

/** Returns the color key and the words for a run. A stalled run looks interrupted, because the user has to act. */
function displayOf(run: Displayed): Display {
  if (run.stalled) return { color: 'interrupted', label: 'Not responding' };
  if (endedCollapsed(run)) return { color: 'collapsed', label: 'Collapsed' };
  return jobDisplay(run) ?? { color: run.status, label: statusLabel(run.status) };
}

/** Returns the words for a run's state: its status, that of its job on a cluster, `Not responding` or `Collapsed`. */
export const runLabel = (run: Displayed): string => displayOf(run).label;

export function StatusDot({ run }: { run: Displayed }) {
  return <span className="status-dot" data-status={displayOf(run).color} aria-hidden="true" />;
}

export function StatusBadge({ run }: { run: Displayed }) {
  const { color, label } = displayOf(run);
  return (
    <span
      className="status-badge"
      data-status={color}
      title={label === 'Collapsed' ? statusLabel(run.status) : undefined}
    >
      <StatusDot run={run} />
      {label}
    </span>
  );
}

interface ButtonProps {
  children: ReactNode;
  onClick: () => void;
  icon?: IconName;
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  disabled?: boolean;
  title?: string | undefined;
  label?: string;
  /** Whether the button writes to the data folder, or opens a dialog that does. */
  writes?: boolean;
}

export function Button({
  children,
  onClick,
  icon,
  kind = 'plain',
  disabled,
  title,
  label,
  writes = false,
}: ButtonProps) {
  const lock = useWriteLock(writes);
  return (
    <button
      type="button"
      className="button"
      data-kind={kind}
      onClick={onClick}
      disabled={disabled}
      title={title}
      aria-label={label}
      {...lock}
    >
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

export function IconButton({
  icon,
  label,
  onClick,
  disabled,
  pressed,
  writes = false,
}: {
  icon: IconName;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  pressed?: boolean;
  writes?: boolean;
}) {
  const lock = useWriteLock(writes);
  return (
    <button
      type="button"
      className="icon-button"
      onClick={onClick}
      disabled={disabled}
      aria-pressed={pressed}
      aria-label={label}
      title={label}
      {...lock}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Shows a progress bar. `value` is in [0, 1]. */
export function Progress({ value, label, status }: { value: number; label: string; status?: RunStatus }) {
  const share = Math.min(1, Math.max(0, value));
  return (
    <div
      className="progress"
      data-status={status}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
    >
      <div style={{ transform: `scaleX(${share})` }} />
    </div>
  );
}

/** Replaces run ids in a message with run names. */
const withRunNames = (text: string, runs: readonly RunSummary[] | null): string =>
  text.replace(/[a-z0-9][a-z0-9-]{2,63}/g, (word) => runs?.find(({ id }) => id === word)?.name ?? word);

/** Shows text in backticks, such as a command, as code. */
const withCode = (text: string): ReactNode =>
  inOrder(text.split('`'), (part, index) => (index % 2 === 1 ? <code>{part}</code> : part));

/** Shows the error code, for bug reports. */
export const CodeDetails = ({ code }: { code: string }) => (
  <details className="note-details">
    <summary>Details</summary>
    Code <code>{code}</code>
  </details>
);

/** Shows an error. Screen readers announce a warning less urgently. */
export function ErrorNote({
  error,
  kind = 'error',
  onDismiss,
  children,
}: {
  error: ApiError;
  kind?: 'error' | 'warning';
  onDismiss?: () => void;
  children?: ReactNode;
}) {
  const runs = useApp((state) => state.runs);
  return (
    <div className="note" data-kind={kind} role={kind === 'error' ? 'alert' : 'status'}>
      <div className="note-body">
        <p className="note-title">{withRunNames(error.message, runs)}</p>
        <p>{withCode(withRunNames(error.hint, runs))}</p>
        {children}
        <CodeDetails code={error.code} />
      </div>
      {onDismiss && <IconButton icon="close" label="Dismiss" onClick={onDismiss} />}
    </div>
  );
}

/** Shows a collapsible section. */
export function Panel({
  id,
  title,
  note,
  open,
  children,
}: {
  /** For links to the panel. */
  id?: string;
  title: string;
  note?: ReactNode;
  /** Initial state. */
  open?: boolean;
  children: ReactNode;
}) {
  return (
    <details id={id} className="panel fold" open={open}>
      <summary>
        <Icon name="chevron" size={12} />
        <h2>{title}</h2>
        {note && <span className="faint">{note}</span>}
      </summary>
      <div className="fold-body">{children}</div>
    </details>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <div className="empty-text">{children}</div>}
    </div>
  );
}
