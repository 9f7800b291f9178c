import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Failure } from '../../core/contract/failure.ts';
import type { Api, ConnectionState } from '../../renderer/api/api.ts';
import { Toasts } from '../../renderer/shell/toasts.tsx';
import { followServer, useApp } from '../../renderer/stores/app-store.ts';

let root: Root;
const host = document.body.appendChild(document.createElement('div'));
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  root = createRoot(host);
  flushSync(() => root.render(<Toasts />));
});
afterEach(() => {
  root.unmount();
  useApp.setState(useApp.getInitialState());
  vi.useRealTimers();
});

const texts = () => [...host.querySelectorAll('.note')].map(({ textContent }) => textContent);
const doing = (change: () => void) => flushSync(change);
const pass = (seconds: number) => doing(() => void vi.advanceTimersByTime(seconds * 1000));
const fails = (code: string) => doing(() => useApp.getState().report(new Failure(code, `${code} it was`, 'Do so.')));

test('confirmations disappear unless focused; errors that need action stay', () => {
  doing(() => useApp.getState().notify('Saved.'));
  fails('run_unknown');
  fails('disk_full');
  expect(texts()).toHaveLength(3);
  const dismiss = host.querySelector<HTMLElement>('[role="status"] [aria-label="Dismiss"]')!;
  doing(() => dismiss.focus());
  pass(30);
  expect(texts().map((text) => /Saved|disk_full/.exec(text!)?.[0])).toEqual(['Saved', 'disk_full']);
  doing(() => dismiss.blur());
  pass(30);
  expect(texts()).toHaveLength(1);
  pass(3600);
  expect(texts()[0]).toMatch(/disk_full it was.*Do so.*Details/);
});

test('Undo runs and dismisses; at most three messages show', () => {
  const undo = vi.fn();
  for (const text of ['one', 'two', 'three', 'four']) doing(() => useApp.getState().notify(text, undo));
  expect(texts().map((text) => text!.split('Undo')[0])).toEqual(['two', 'three', 'four']);
  const [button] = host.querySelectorAll<HTMLElement>('.note button');
  doing(() => button!.click());
  expect(undo).toHaveBeenCalledTimes(1);
  expect(texts()).toHaveLength(2);
});

test('connection errors disappear after a reconnection', () => {
  let become = (_: ConnectionState) => {};
  const api: Api = {
    call: () => new Promise<never>(() => {}),
    on: () => () => {},
    onState: (handler) => {
      become = handler;
      return () => {};
    },
  };
  const stop = followServer(api);
  fails('not_connected');
  fails('run_unknown');
  doing(() => become('open'));
  expect(texts()).toHaveLength(1);
  expect(texts()[0]).toContain('run_unknown');
  stop();
});
