import { EventEmitter } from 'node:events';
import type { IpcMain, Notification } from 'electron';
import { beforeEach, expect, test, vi } from 'vitest';
import { showNotifications } from './notifications.ts';

class Shown extends EventEmitter {
  static all: Shown[] = [];
  static isSupported = () => true;
  readonly options: unknown;
  readonly show = vi.fn();
  constructor(options: unknown) {
    super();
    this.options = options;
    Shown.all.push(this);
  }
}

const text = { runId: 'a-run', title: 'Echo Trap: warning', body: 'The spread falls.' };
const own = { url: 'app://studio/#/run/a-run', parent: null };
const desk = { inFront: vi.fn(() => false), show: vi.fn() };
const page = { isDestroyed: () => false, send: vi.fn() };
let ipc: EventEmitter;

beforeEach(() => {
  Shown.all = [];
  vi.clearAllMocks();
  ipc = new EventEmitter();
  showNotifications(ipc as unknown as IpcMain, Shown as unknown as typeof Notification, desk);
});

const ask = (message: unknown, senderFrame: object | null = own) =>
  ipc.emit('starpo-notify', { senderFrame, sender: page }, message);

test('an alarm is shown, and a click brings its run to the front', () => {
  ask(JSON.stringify(text));
  expect(Shown.all).toHaveLength(1);
  expect(Shown.all[0]!.options).toEqual({ title: text.title, body: text.body });
  expect(Shown.all[0]!.show).toHaveBeenCalled();
  expect(page.send).not.toHaveBeenCalled();
  Shown.all[0]!.emit('click');
  expect(desk.show).toHaveBeenCalled();
  expect(page.send).toHaveBeenCalledWith('starpo-open', 'a-run');
});

test('nothing is shown to someone who looks at the app', () => {
  desk.inFront.mockReturnValueOnce(true);
  ask(JSON.stringify(text));
  expect(Shown.all).toEqual([]);
});

test.each([
  ['a foreign page', JSON.stringify(text), { url: 'https://example.org/', parent: null }],
  ['a frame within the page', JSON.stringify(text), { ...own, parent: own }],
  ['no frame', JSON.stringify(text), null],
  ['an object', text, own],
  ['no JSON', 'warning', own],
  ['a run that can be none', JSON.stringify({ ...text, runId: '../x' }), own],
  ['more than is asked for', JSON.stringify({ ...text, icon: 'file:///etc/passwd' }), own],
  ['a title without end', JSON.stringify({ ...text, title: 'x'.repeat(101) }), own],
  ['no title', JSON.stringify({ ...text, title: '' }), own],
])('%s gets nothing shown', (_what, message, frame) => {
  ask(message, frame);
  expect(Shown.all).toEqual([]);
});
