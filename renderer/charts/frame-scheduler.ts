type Task = () => void;

export interface FrameScheduler {
  /** Runs the task once in the next animation frame, however often it is asked for before that. */
  schedule(task: Task): void;
  cancel(task: Task): void;
}

/** One animation frame for the whole window: everything that is dirty is drawn together, and nothing is asked of an idle page. */
export function createFrameScheduler(requestFrame: (callback: () => void) => unknown): FrameScheduler {
  let tasks = new Set<Task>();
  let requested = false;

  function run(): void {
    const due = tasks;
    tasks = new Set();
    requested = false;
    for (const task of due) task();
  }

  return {
    schedule(task) {
      tasks.add(task);
      if (requested) return;
      requested = true;
      requestFrame(run);
    },
    cancel(task) {
      tasks.delete(task);
    },
  };
}

export const frames = createFrameScheduler((callback) => requestAnimationFrame(callback));
