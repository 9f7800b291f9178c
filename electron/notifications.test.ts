import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IpcMain, Notification } from 'electron';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepNotificationChoice, notifier } from './notifications.ts';
import { Preferences } from './preferences.ts';

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

const text = { runId: 'a-run', tag: 'a-run x', title: 'Echo Trap: warning', body: 'The spread falls.' };
const own = { url: 'app://studio/#/run/a-run', parent: null };
const desk = { inFront: vi.fn(() => false), show: vi.fn() };
const ipc = new EventEmitter();
let folder: string;
let file: string;
let notify: ReturnType<typeof notifier>;

beforeEach(() => {
  Shown.all = [];
  vi.clearAllMocks();
  ipc.removeAllListeners();
  folder = mkdtempSync(join(tmpdir(), 'starpo-notifications-'));
  file = join(folder, 'preferences.json');
  const preferences = new Preferences(file);
  notify = notifier(Shown as unknown as typeof Notification, preferences, desk);
  keepNotificationChoice(ipc as unknown as IpcMain, preferences);
});
afterEach(() => rmSync(folder, { recursive: true }));

const choose = (choice: unknown, senderFrame: object | null = own) =>
  ipc.emit('starpo-notifications', { senderFrame }, choice);

test('a warning is shown, and a click opens its run', () => {
  notify(text);
  expect(Shown.all).toHaveLength(1);
  expect(Shown.all[0]!.options).toEqual({ title: text.title, body: text.body });
  expect(Shown.all[0]!.show).toHaveBeenCalled();
  expect(desk.show).not.toHaveBeenCalled();
  Shown.all[0]!.emit('click');
  expect(desk.show).toHaveBeenCalledWith('#/run/a-run');
});

test('nothing is shown while the window has focus', () => {
  desk.inFront.mockReturnValueOnce(true);
  notify(text);
  expect(Shown.all).toEqual([]);
});

test('nothing is shown while notifications are off; the choice is kept with others', () => {
  writeFileSync(file, '{"closing":"keep"}');
  choose('off');
  notify(text);
  expect(Shown.all).toEqual([]);
  expect(new Preferences(file)).toMatchObject({ notifications: 'off', closing: 'keep' });
  choose('on');
  notify(text);
  expect(Shown.all).toHaveLength(1);
});

test.each([
  ['a foreign page', 'off', { url: 'https://example.org/', parent: null }],
  ['a frame within the page', 'off', { ...own, parent: own }],
  ['no frame', 'off', null],
  ['an object', { choice: 'off' }, own],
  ['another word', 'never', own],
])("%s can't change the choice", (_what, choice, frame) => {
  choose(choice, frame);
  expect(new Preferences(file).notifications).toBe('on');
});
