import type { Notice, NoticeName } from '../contract/contract.ts';

type NoticeHandler = <N extends NoticeName>(name: N, payload: Notice<N>) => void;

type Accepts = (name: NoticeName, runId: string) => boolean;

/** Publishes notices to subscribers. A handler that throws does not affect the others. */
export class Notices {
  private readonly handlers = new Map<NoticeHandler, Accepts>();
  private readonly onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  /** Subscribes a handler and returns a function that unsubscribes it. `accepts` selects notices by name and run; default: all. */
  on(handler: NoticeHandler, accepts: Accepts = () => true): () => void {
    this.handlers.set(handler, accepts);
    return () => void this.handlers.delete(handler);
  }

  /** Returns whether a handler accepts notices of this name about a run. If not, its payload need not be computed. */
  isAccepted(name: NoticeName, runId: string): boolean {
    return [...this.handlers.values()].some((accepts) => accepts(name, runId));
  }

  emit: NoticeHandler = (name, payload) => {
    for (const handler of [...this.handlers.keys()]) {
      try {
        handler(name, payload);
      } catch (error) {
        this.onError(error);
      }
    }
  };
}
