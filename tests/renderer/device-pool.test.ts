import { expect, test } from 'vitest';
import type { RunSummary } from '../../core/contract/contract.ts';
import { deviceIdOf, isDeviceInUse } from '../../renderer/components/run-facts.ts';
import { startTimes } from '../../renderer/pages/queue/start-times.ts';
import { runOf } from './summaries.ts';

const device = (id: string) => ({ id, uuid: null, name: id, available: true, reason: null });
const devices = ['cpu', 'cuda:0', 'cuda:1'].map(device);
const here = { host: 'here', devices };

const trainingOn = (id: string, etaSeconds: number | null = null): RunSummary =>
  runOf({ id: `on-${id}`, device: 'auto', etaSeconds, machine: { host: 'here', device: id, name: null, threads: 1 } });
const queued = (id: string, setting: string): RunSummary =>
  runOf({ id, device: setting, status: 'queued', queuePosition: 1, iteration: 0, iterations: 10 });

test('a device setting is in use once every device that it may select has a run', () => {
  const one = [trainingOn('cuda:0')];
  const both = [...one, trainingOn('cuda:1')];
  expect(isDeviceInUse(one, 'auto', here)).toBe(false);
  expect(isDeviceInUse(one, 'cuda:0', here)).toBe(true);
  expect(isDeviceInUse(both, 'cuda', here)).toBe(true);
  expect(isDeviceInUse(both, 'cpu', here)).toBe(false);
  expect(isDeviceInUse([queued('a', 'auto')], 'auto', here)).toBe(true);
  expect(isDeviceInUse(one, 'auto', null)).toBe(true);
  expect(isDeviceInUse(both, 'auto', { host: 'another machine', devices })).toBe(false);
});

test('a queued run starts when the first of its devices is free', () => {
  const live = [trainingOn('cuda:0', 100), trainingOn('cuda:1', 30)];
  const waiting = [
    queued('a', 'auto'),
    queued('b', 'cuda'),
    queued('c', 'cuda:0'),
    queued('d', 'cpu'),
    queued('e', 'cpu'),
  ];
  const seconds = { a: 50, b: 200, c: 10, d: null, e: 5 };
  expect(startTimes(waiting, live, devices, seconds)).toEqual([30, 80, 100, 0, null]);
  expect(startTimes(waiting.slice(0, 2), [trainingOn('cuda:0', 100)], [], seconds)).toEqual([100, 150]);
});

test('a MIG slice is named by its number in the pool, not by that of its trainer', () => {
  const slices = devices.map((each, index) => ({ ...each, uuid: index === 0 ? null : `MIG-${index}` }));
  const on = (uuid: string | null) => ({
    ...trainingOn('cuda:0'),
    machine: { host: 'here', device: 'cuda:0', uuid, name: null, threads: 1 },
  });
  expect(deviceIdOf(on('MIG-2'), slices)).toBe('cuda:1');
  expect(deviceIdOf(on('MIG-7'), slices)).toBe('cuda:0');
  expect(deviceIdOf(on(null), devices)).toBe('cuda:0');
  expect(deviceIdOf(trainingOn('cpu'), slices)).toBe('cpu');
  expect(deviceIdOf(queued('a', 'auto'), slices)).toBeNull();
});
