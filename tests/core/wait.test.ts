import { expect, test } from 'vitest';
import { Emitter } from '../../core/base/emitter.ts';
import type { RunEvents } from '../../core/run-sync/run-events.ts';
import { waitForEvent } from '../../core/run-sync/wait.ts';

test('a timeout does not keep the process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const wait = waitForEvent({ events: new Emitter<RunEvents>(() => {}) }, 'run', () => true);
  void wait.after(60_000);
  expect(timers()).toBe(before);
  wait.close();
});
