import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseTransport, openAddress, takeCode } from '../../renderer/api/transport.ts';

const stored = () => localStorage.getItem('starpo-sign-in');

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, '', '#/start');
});
afterEach(() => vi.unstubAllGlobals());

test('the code leaves the address bar and stays for the other tabs', () => {
  history.replaceState(null, '', '#sign-in=abc1');
  takeCode();
  expect(location.hash).toBe('#/start');
  expect(stored()).toBe('abc1');
});

test('a page behind the code is kept', () => {
  history.replaceState(null, '', '#sign-in=abc/run/x/replay');
  takeCode();
  expect(location.hash).toBe('#/run/x/replay');
});

test('an address opened in a tab that is there already brings its code', () => {
  chooseTransport();
  history.replaceState(null, '', '#sign-in=1a7e/run/x');
  dispatchEvent(new HashChangeEvent('hashchange'));
  expect(location.hash).toBe('#/run/x');
  expect(stored()).toBe('1a7e');
});

test('without a code nothing is asked, and it is said that the tab is not signed in', async () => {
  const fetch = vi.fn();
  vi.stubGlobal('fetch', fetch);
  await expect(chooseTransport()()).rejects.toMatchObject({ code: 'not_signed_in' });
  expect(fetch).not.toHaveBeenCalled();
});

test('a code of a process that has ended does not sign in, and is all that is told', async () => {
  const fetch = vi.fn(async () => new Response('{}', { status: 401 }));
  vi.stubGlobal('fetch', fetch);
  localStorage.setItem('starpo-sign-in', 'dead');
  await expect(chooseTransport()()).rejects.toMatchObject({ code: 'not_signed_in' });
  expect(fetch.mock.calls).toEqual([
    ['/api/sign-in', expect.objectContaining({ method: 'POST', body: '{"code":"dead"}' })],
  ]);
});

test.each(['', 'nonsense', 'http://127.0.0.1:7717/', 'https://evil.example/#sign-in=abc'])(
  'the pasted text %j is no address of ours',
  (text) => expect(openAddress(text)).toBe(false),
);
