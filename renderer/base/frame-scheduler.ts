type Task = () => void;

export interface FrameScheduler {
  /** Runs the task once in the next animation frame that has time for it, however often it is asked for before that. */
  schedule(task: Task): void;
  cancel(task: Task): void;
}

export interface FrameClock {
  requestFrame: (callback: () => void) => unknown;
  /** Calls back once the browser has painted the frame that this is called in. */
  afterFrame: (callback: () => void) => unknown;
  /** Milliseconds. */
  now: () => number;
}

const windowClock: FrameClock = {
  requestFrame: (callback) => requestAnimationFrame(callback),
  // A frame's callbacks and its painting are one task of the browser's.
  afterFrame: (callback) => setTimeout(callback),
  now: () => performance.now(),
};

/** Milliseconds of a frame that tasks and the painting of what they drew may take; the rest is for the pointer and the keyboard. */
const budget = 8;
/** Tasks shorter than this, in milliseconds, say nothing about what painting takes: a frame has its own cost. */
const telling = 1;

/**
 * One animation frame for the whole window: what is dirty is drawn together, as far as a frame has time for it, and nothing is asked of an idle page. What is drawn on
 * a canvas is painted afterwards, and where no GPU does that it takes longer than the drawing: how much longer is told by the frames before.
 */
export function createFrameScheduler({ requestFrame, afterFrame, now } = windowClock): FrameScheduler {
  let tasks = new Set<Task>();
  let due = new Set<Task>();
  let requested = false;
  /** How many times as long as its tasks the newest frame took. */
  let stretch = 1;

  function run(): void {
    due = tasks;
    tasks = new Set();
    requested = false;
    const begin = now();
    let ran = 0;
    for (const task of due) {
      // One more like those before it.
      if (ran > 0 && (now() - begin) * (1 + 1 / ran) * stretch > budget) break;
      due.delete(task);
      task();
      ran++;
    }
    const drawn = now() - begin;
    if (drawn >= telling)
      afterFrame(() => {
        stretch = (now() - begin) / drawn;
      });
    // They come first then, so that none is passed over for ever.
    const asked = [...tasks];
    tasks = due;
    for (const task of asked) tasks.add(task);
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
