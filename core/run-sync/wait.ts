import type { RunEvent } from './run-events.ts';
import type { Supervisor } from './supervisor.ts';

export interface Wait {
  /** Resolves to the first matching event. */
  event: Promise<RunEvent>;
  /** Resolves when the run was interrupted. */
  interrupted: Promise<'interrupted'>;
  /** Resolves to null after some milliseconds. */
  after(milliseconds: number): Promise<null>;
  /** Returns the matching event, or null before it. */
  seen(): RunEvent | null;
  /** Unsubscribes. Must be called. */
  close(): void;
}

/** Starts waiting for an event of a run. Call it before triggering the event. */
export function waitForEvent(
  { events }: Pick<Supervisor, 'events'>,
  runId: string,
  matches: (event: RunEvent) => boolean,
): Wait {
  let first: RunEvent | null = null;
  let timer: NodeJS.Timeout | undefined;
  const stops: (() => void)[] = [];
  const event = new Promise<RunEvent>((resolve) => {
    stops.push(
      events.on('journal', (batch) => {
        const found = batch.runId === runId && !first ? batch.events.find(matches) : undefined;
        if (!found) return;
        first = found;
        resolve(found);
      }),
    );
  });
  const interrupted = new Promise<'interrupted'>((resolve) => {
    stops.push(
      events.on('summary', ({ id, status }) => {
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
        // A wait must not keep the process alive: the supervisor's polling does, until the supervisor closes.
        timer.unref();
      }),
    seen: () => first,
    close: () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    },
  };
}
