import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseTransport, openAddress, storeCode } from '../../renderer/api/transport.ts';

const stored = () => localStorage.getItem('starpo-sign-in');

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, '', '#/start');
});
afterEach(() => vi.unstubAllGlobals());

test('the code is removed from the address bar and kept for other tabs', () => {
  history.replaceState(null, '', '#sign-in=abc1');
  storeCode();
  expect(location.hash).toBe('#/start');
  expect(stored()).toBe('abc1');
});

test('the route after the sign-in code is preserved', () => {
  history.replaceState(null, '', '#sign-in=abc/run/x/replay');
  storeCode();
  expect(location.hash).toBe('#/run/x/replay');
});

test('an address opened in an existing tab updates the code', () => {
  chooseTransport();
  history.replaceState(null, '', '#sign-in=1a7e/run/x');
  dispatchEvent(new HashChangeEvent('hashchange'));
  expect(location.hash).toBe('#/run/x');
  expect(stored()).toBe('1a7e');
});

test("without a code no request is sent and the tab isn't signed in", async () => {
  const fetch = vi.fn();
  vi.stubGlobal('fetch', fetch);
  await expect(chooseTransport()()).rejects.toMatchObject({ code: 'not_signed_in' });
  expect(fetch).not.toHaveBeenCalled();
});

test("an expired code doesn't sign in, and nothing else is sent", async () => {
  const fetch = vi.fn(async () => new Response('{}', { status: 401 }));
  vi.stubGlobal('fetch', fetch);
  localStorage.setItem('starpo-sign-in', 'dead');
  await expect(chooseTransport()()).rejects.toMatchObject({ code: 'not_signed_in' });
  expect(fetch.mock.calls).toEqual([
    ['/api/sign-in', expect.objectContaining({ method: 'POST', body: '{"code":"dead"}' })],
  ]);
});

test('the key is kept only in memory and used again after the process has ended', async () => {
  const key = 'b'.repeat(64);
  const fetch = vi.fn(async () => new Response(JSON.stringify({ id: 'a'.repeat(32), key })));
  const opened: string[][] = [];
  class Refusing extends EventTarget {
    constructor(_: string, protocols: string[]) {
      super();
      opened.push(protocols);
      queueMicrotask(() => this.dispatchEvent(new Event('close')));
    }
    close() {}
  }
  vi.stubGlobal('fetch', fetch);
  vi.stubGlobal('WebSocket', Refusing);
  localStorage.setItem('starpo-sign-in', 'c0de');
  const open = chooseTransport();
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(open()).rejects.toMatchObject({ code: 'connection_refused' });
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(opened.map(([name, id]) => [name, id])).toEqual([
    ['starpo', 'a'.repeat(32)],
    ['starpo', 'a'.repeat(32)],
  ]);
  expect({ ...localStorage }).toEqual({ 'starpo-sign-in': 'c0de' });
  expect({ ...sessionStorage, cookie: document.cookie }).toEqual({ cookie: '' });
});

test.each(['', 'nonsense', 'http://127.0.0.1:7717/', 'https://evil.example/#sign-in=abc'])(
  'the pasted text %j is not a sign-in address',
  (text) => expect(openAddress(text)).toBe(false),
);
