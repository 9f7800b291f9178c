import type { Notices } from '../base/notices.ts';
import type { StoredEvent } from '../history/queries.ts';
import type { Supervisor } from './supervisor.ts';

export interface Wait {
  /** The first event of the run, from now on, that was asked for. */
  event: Promise<StoredEvent>;
  /** Settles when the run turns out to have lost its trainer. */
  interrupted: Promise<'interrupted'>;
  /** Null after some milliseconds. */
  after(milliseconds: number): Promise<null>;
  seen(): StoredEvent | null;
  /** Must be called; lets go of everything. */
  close(): void;
}

/** Begins to wait for an event of a run, before whatever causes it is done. */
export function waitForEvent(
  { supervisor, notices }: { supervisor: Supervisor; notices: Notices },
  runId: string,
  wanted: (event: StoredEvent) => boolean,
): Wait {
  let first: StoredEvent | null = null;
  let timer: NodeJS.Timeout | undefined;
  const closers: (() => void)[] = [];
  const event = new Promise<StoredEvent>((resolve) => {
    closers.push(
      supervisor.onEvents((id, events) => {
        const found = id === runId && !first ? events.find(wanted) : undefined;
        if (!found) return;
        first = found;
        resolve(found);
      }),
    );
  });
  const interrupted = new Promise<'interrupted'>((resolve) => {
    closers.push(
      notices.on((name, payload) => {
        if (name !== 'run') return;
        const { id, status } = payload as { id: string; status: string };
        if (id === runId && status === 'interrupted') resolve('interrupted');
      }),
    );
  });
  return {
    event,
    interrupted,
    after: (milliseconds) =>
      new Promise((resolve) => {
        timer = setTimeout(() => resolve(null), milliseconds);
      }),
    seen: () => first,
    close: () => {
      clearTimeout(timer);
      for (const close of closers) close();
    },
  };
}
