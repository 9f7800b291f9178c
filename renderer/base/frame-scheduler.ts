type Task = () => void;

interface FrameScheduler {
  /** Runs the task once in the next animation frame with time left. More requests before that have no effect. */
  schedule(task: Task): void;
  cancel(task: Task): void;
}

interface FrameClock {
  requestFrame: (callback: () => void) => unknown;
  /** Calls back after the browser has painted the current frame. */
  afterFrame: (callback: () => void) => unknown;
  /** Milliseconds. */
  now: () => number;
}

const windowClock: FrameClock = {
  requestFrame: (callback) => requestAnimationFrame(callback),
  // The browser runs a frame's callbacks and its painting as one task.
  afterFrame: (callback) => setTimeout(callback),
  now: () => performance.now(),
};

/** Time budget per frame for tasks and painting, in ms. The rest is for input events. */
const budget = 8;
/** Minimum task time in ms for an estimate of the painting cost. Shorter tasks are dominated by the fixed cost of a frame. */
const minTaskTime = 1;

/**
 * Shares one animation frame among all drawing tasks of the window, within a time budget. An idle page requests
 * no frames. Without a GPU, painting a canvas takes longer than drawing on it, so the estimate of a task's time
 * includes the overhead of the last frame.
 */
export function createFrameScheduler({ requestFrame, afterFrame, now } = windowClock): FrameScheduler {
  let tasks = new Set<Task>();
  let due = new Set<Task>();
  let requested = false;
  /** Total time of the last frame, divided by its task time. */
  let overhead = 1;

  function run(): void {
    due = tasks;
    tasks = new Set();
    requested = false;
    const begin = now();
    let ran = 0;
    for (const task of due) {
      // Assume that the next task takes the average time.
      if (ran > 0 && (now() - begin) * (1 + 1 / ran) * overhead > budget) break;
      due.delete(task);
      task();
      ran++;
    }
    const taskTime = now() - begin;
    if (taskTime >= minTaskTime)
      afterFrame(() => {
        overhead = (now() - begin) / taskTime;
      });
    // Postponed tasks run first in the next frame.
    const requestedTasks = [...tasks];
    tasks = due;
    for (const task of requestedTasks) tasks.add(task);
    if (tasks.size > 0) request();
  }

  function request(): void {
    if (requested) return;
    requested = true;
    requestFrame(run);
  }

  return {
    schedule(task) {
      tasks.add(task);
      request();
    },
    cancel(task) {
      tasks.delete(task);
      due.delete(task);
    },
  };
}

export const frames = createFrameScheduler();
