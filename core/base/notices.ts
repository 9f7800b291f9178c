import type { Notice, NoticeName } from '../contract/contract.ts';

type NoticeHandler = <N extends NoticeName>(name: N, payload: Notice<N>) => void;

/** Publishes notices to subscribers. A handler that throws does not affect the others. */
export class Notices {
  private readonly handlers = new Set<NoticeHandler>();
  private readonly onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  on(handler: NoticeHandler): () => void {
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  emit: NoticeHandler = (name, payload) => {
    for (const handler of [...this.handlers]) {
      try {
        handler(name, payload);
      } catch (error) {
        this.onError(error);
      }
    }
  };
}
