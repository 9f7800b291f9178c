// @vitest-environment node
import { expect, test } from 'vitest';
import { createFrameScheduler } from '../../renderer/charts/frame-scheduler.ts';

function schedulerByHand() {
  const requested: (() => void)[] = [];
  return { requested, scheduler: createFrameScheduler((callback) => requested.push(callback)) };
}

test('tasks of one frame run once each, in one frame', () => {
  const { requested, scheduler } = schedulerByHand();
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

test('a task that asks again runs in the next frame, and an idle page asks for none', () => {
  const { requested, scheduler } = schedulerByHand();
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

test('a frame that is full leaves the rest to the next one, and always does something', () => {
  const requested: (() => void)[] = [];
  let time = 0;
  const scheduler = createFrameScheduler(
    (callback) => requested.push(callback),
    () => time,
  );
  const ran: string[] = [];
  for (const name of ['a', 'b', 'c'])
    scheduler.schedule(() => {
      ran.push(name);
      time += 4;
    });
  requested[0]!();
  expect(ran).toEqual(['a', 'b']);
  requested[1]!();
  expect(ran).toEqual(['a', 'b', 'c']);
  expect(requested).toHaveLength(2);
});

test('a cancelled task does not run', () => {
  const { requested, scheduler } = schedulerByHand();
  let ran = false;
  const task = () => {
    ran = true;
  };
  scheduler.schedule(task);
  scheduler.cancel(task);
  requested[0]!();
  expect(ran).toBe(false);
});
