type Task = () => void;

export interface FrameScheduler {
  /** Runs the task once in the next animation frame that has time for it, however often it is asked for before that. */
  schedule(task: Task): void;
  cancel(task: Task): void;
}

/** Milliseconds of a frame after which no further task is begun; the rest of the frame is the browser's. */
const budget = 6;

/**
 * One animation frame for the whole window: what is dirty is drawn together, as far as a frame has time for it, and nothing is asked of an idle page. `now`: a clock
 * in milliseconds.
 */
export function createFrameScheduler(
  requestFrame: (callback: () => void) => unknown,
  now: () => number = () => performance.now(),
): FrameScheduler {
  let tasks = new Set<Task>();
  let due = new Set<Task>();
  let requested = false;

  function run(): void {
    due = tasks;
    tasks = new Set();
    requested = false;
    const end = now() + budget;
    let ran = false;
    for (const task of due) {
      if (ran && now() > end) schedule(task);
      else task();
      ran = true;
    }
  }

  function schedule(task: Task): void {
    tasks.add(task);
    if (requested) return;
    requested = true;
    requestFrame(run);
  }

  return {
    schedule,
    cancel(task) {
      tasks.delete(task);
      due.delete(task);
    },
  };
}

export const frames = createFrameScheduler((callback) => requestAnimationFrame(callback));
