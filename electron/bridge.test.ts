import { EventEmitter } from 'node:events';
import type { IpcMain } from 'electron';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ClosableChannel } from '../core/contract/channel.ts';
import { bridgeToCore } from './bridge.ts';

class Page extends EventEmitter {
  readonly sent: string[] = [];
  readonly id: number;
  constructor(id: number) {
    super();
    this.id = id;
  }
  readonly otherChannels: string[] = [];
  send(channel: string, text: string) {
    if (channel === 'starpo') this.sent.push(text);
    else this.otherChannels.push(channel);
  }
  isDestroyed() {
    return false;
  }
}

interface Served {
  channel: ClosableChannel;
  received: string[];
  closed: number;
}

describe('the bridge between page and server', () => {
  let ipc: EventEmitter;
  let served: Served[];
  const own = { url: 'app://studio/', parent: null };
  const post = (page: Page, text: unknown, senderFrame: unknown = own) =>
    ipc.emit('starpo', { sender: page, senderFrame }, text);

  beforeEach(() => {
    ipc = new EventEmitter();
    served = [];
    bridgeToCore(ipc as unknown as IpcMain, (channel) => {
      const connection: Served = { channel, received: [], closed: 0 };
      channel.onMessage((text) => connection.received.push(text));
      channel.onClose(() => {
        connection.closed += 1;
      });
      served.push(connection);
    });
  });

  test('carries text both ways, with one channel per page', () => {
    const [first, second] = [new Page(1), new Page(2)];
    post(first, 'a');
    post(first, 'b');
    post(second, 'c');
    served[1]?.channel.send('answer');
    expect(served.map((connection) => connection.received)).toEqual([['a', 'b'], ['c']]);
    expect([first.sent, second.sent]).toEqual([[], ['answer']]);
  });

  test("accepts only text from the main frame of the app's page", () => {
    const page = new Page(1);
    post(page, 'x', { url: 'https://example.org/', parent: null });
    post(page, 'x', { url: 'app://studio.example.org/', parent: null });
    post(page, 'x', { url: 'app://studio/', parent: {} });
    post(page, 'x', null);
    post(page, { text: 'x' });
    expect(served).toEqual([]);
  });

  test.each([
    ['reload', 'did-start-navigation', { isMainFrame: true, isSameDocument: false }],
    ['crash', 'render-process-gone', {}],
    ['close', 'destroyed', {}],
  ])('%s closes the channel, and the next message opens a new one', (_how, event, details) => {
    const page = new Page(1);
    post(page, 'a');
    page.emit(event, details);
    expect(served[0]?.closed).toBe(1);
    served[0]?.channel.send('late');
    expect(page.sent).toEqual([]);
    post(page, 'b');
    expect(served.map((connection) => connection.received)).toEqual([['a'], ['b']]);
  });

  test('a page is notified when the server closes, and its next message opens a new channel', () => {
    const page = new Page(1);
    post(page, 'a');
    served[0]?.channel.close();
    served[0]?.channel.close();
    expect(page.otherChannels).toEqual(['starpo-closed']);
    expect(served[0]?.closed).toBe(1);
    post(page, 'b');
    expect(served.map((connection) => connection.received)).toEqual([['a'], ['b']]);
  });

  test('in-page navigation and embedded frames keep the channel', () => {
    const page = new Page(1);
    post(page, 'a');
    page.emit('did-start-navigation', { isMainFrame: true, isSameDocument: true });
    page.emit('did-start-navigation', { isMainFrame: false, isSameDocument: false });
    expect(served[0]?.closed).toBe(0);
  });
});
