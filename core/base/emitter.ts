/** Emits typed events to the services of this process. A handler that throws does not affect the others. */
export class Emitter<Events extends object> {
  private readonly handlers = new Map<keyof Events, Set<(payload: never) => void>>();
  private readonly onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  /** Subscribes to an event and returns a function that unsubscribes. */
  on<Name extends keyof Events>(name: Name, handler: (payload: Events[Name]) => void): () => void {
    const handlers = this.handlers.get(name) ?? new Set();
    this.handlers.set(name, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    for (const handler of [...(this.handlers.get(name) ?? [])]) {
      try {
        (handler as (payload: Events[Name]) => void)(payload);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}
