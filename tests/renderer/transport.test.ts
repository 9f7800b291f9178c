import { beforeEach, expect, test } from 'vitest';
import { chooseTransport, takeToken } from '../../renderer/api/transport.ts';

beforeEach(() => {
  sessionStorage.clear();
  history.replaceState(null, '', '#/start');
});

test('the token leaves the address bar and stays for the session', () => {
  history.replaceState(null, '', '#token=abc_DEF-1');
  expect(takeToken()).toBe('abc_DEF-1');
  expect(location.hash).toBe('#/start');
  expect(takeToken()).toBe('abc_DEF-1');
});

test('a page behind the token is kept', () => {
  history.replaceState(null, '', '#token=abc/run/x/replay');
  takeToken();
  expect(location.hash).toBe('#/run/x/replay');
});

test('a newer token replaces the one before', () => {
  history.replaceState(null, '', '#token=old');
  takeToken();
  history.replaceState(null, '', '#token=new');
  expect(takeToken()).toBe('new');
});

test('an address opened in a tab that is there already brings its token', () => {
  chooseTransport();
  history.replaceState(null, '', '#token=later/run/x');
  dispatchEvent(new HashChangeEvent('hashchange'));
  expect(location.hash).toBe('#/run/x');
  expect(takeToken()).toBe('later');
});

test('no token is an empty one', () => {
  expect(takeToken()).toBe('');
});
