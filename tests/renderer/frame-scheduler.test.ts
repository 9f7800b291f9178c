// @vitest-environment node
import { expect, test } from 'vitest';
import { createFrameScheduler } from '../../renderer/base/frame-scheduler.ts';

/** Frames and a clock controlled by the test. */
function manualScheduler() {
  const requested: (() => void)[] = [];
  const painted: (() => void)[] = [];
  const clock = { time: 0 };
  const scheduler = createFrameScheduler({
    requestFrame: (callback) => requested.push(callback),
    afterFrame: (callback) => painted.push(callback),
    now: () => clock.time,
  });
  return { requested, painted, clock, scheduler };
}

test('tasks of one frame run once each, in one frame', () => {
  const { requested, scheduler } = manualScheduler();
  const ran: string[] = [];
  const a = () => ran.push('a');
  const b = () => ran.push('b');
  scheduler.schedule(a);
  scheduler.schedule(b);
  scheduler.schedule(a);
  expect(requested).toHaveLength(1);
  requested[0]!();
  expect(ran).toEqual(['a', 'b']);
});

test('a rescheduled task runs in the next frame, and an idle page requests none', () => {
  const { requested, scheduler } = manualScheduler();
  let runs = 0;
  const again = () => {
    runs += 1;
    if (runs < 2) scheduler.schedule(again);
  };
  scheduler.schedule(again);
  requested[0]!();
  expect(runs).toBe(1);
  requested[1]!();
  expect(runs).toBe(2);
  expect(requested).toHaveLength(2);
});

test('a full frame runs at least one task and postpones others to the start of the next frame', () => {
  const { requested, clock, scheduler } = manualScheduler();
  const ran: string[] = [];
  const taking = (name: string, milliseconds: number) => () => {
    ran.push(name);
    clock.time += milliseconds;
  };
  const again = () => {
    taking('a', 4)();
    scheduler.schedule(again);
  };
  scheduler.schedule(again);
  for (const name of ['b', 'c']) scheduler.schedule(taking(name, 20));
  requested[0]!();
  expect(ran).toEqual(['a', 'b']);
  requested[1]!();
  expect(ran).toEqual(['a', 'b', 'c']);
  requested[2]!();
  expect(ran).toEqual(['a', 'b', 'c', 'a']);
});

test('a task is postponed if its expected time exceeds the budget', () => {
  const { requested, clock, scheduler } = manualScheduler();
  let ran = 0;
  for (let count = 0; count < 3; count++)
    scheduler.schedule(() => {
      ran += 1;
      clock.time += 6;
    });
  requested[0]!();
  expect(ran).toBe(1);
  requested[1]!();
  expect(ran).toBe(2);
});

test('slow painting reduces the tasks per frame', () => {
  const { requested, painted, clock, scheduler } = manualScheduler();
  let drawn = 0;
  const scheduleAll = () => {
    for (let count = 0; count < 8; count++)
      scheduler.schedule(() => {
        drawn += 1;
        clock.time += 2;
      });
  };
  scheduleAll();
  requested[0]!();
  expect(drawn).toBe(4);
  // One millisecond of painting per millisecond of drawing.
  clock.time += 8;
  painted[0]!();
  requested[1]!();
  expect(drawn).toBe(6);
  scheduleAll();
  requested[2]!();
  expect(drawn).toBe(8);
});

test('a canceled task does not run', () => {
  const { requested, scheduler } = manualScheduler();
  let ran = false;
  const task = () => {
    ran = true;
  };
  scheduler.schedule(task);
  scheduler.cancel(task);
  requested[0]!();
  expect(ran).toBe(false);
});
