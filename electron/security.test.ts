import { EventEmitter } from 'node:events';
import type { App, Session } from 'electron';
import { expect, test, vi } from 'vitest';
import { guardContents, guardPermissions, isOwnPage } from './security.ts';

test.each([
  ['app://studio/', true],
  ['app://studio/#/run/x', true],
  ['app://studio.example.org/', false],
  ['app://other/', false],
  ['https://studio/', false],
  ['file:///etc/passwd', false],
  ['not an address', false],
])('%s is a page of the app: %s', (address, expected) => {
  expect(isOwnPage(address)).toBe(expected);
});

test('a page can neither leave the app, nor open a window, nor embed a web view', () => {
  const app = new EventEmitter();
  const openOutside = vi.fn();
  guardContents(app as unknown as App, openOutside);
  const contents = Object.assign(new EventEmitter(), { setWindowOpenHandler: vi.fn() });
  app.emit('web-contents-created', {}, contents);

  const prevented = (name: string, url: string) => {
    const preventDefault = vi.fn();
    contents.emit(name, { url, preventDefault });
    return preventDefault.mock.calls.length > 0;
  };
  expect(prevented('will-navigate', 'https://example.org/')).toBe(true);
  expect(prevented('will-navigate', 'app://studio/#/start')).toBe(false);
  expect(prevented('will-redirect', 'https://example.org/')).toBe(true);
  expect(prevented('will-attach-webview', '')).toBe(true);

  const openWindow = contents.setWindowOpenHandler.mock.calls[0]?.[0];
  expect(openOutside).not.toHaveBeenCalled();
  expect(openWindow({ url: 'https://arxiv.org/abs/2504.20073' })).toEqual({ action: 'deny' });
  expect(openOutside).toHaveBeenCalledWith('https://arxiv.org/abs/2504.20073');
});

test("the app's page gets only the permissions it needs, other pages none", () => {
  const session = { setPermissionRequestHandler: vi.fn(), setPermissionCheckHandler: vi.fn() };
  guardPermissions(session as unknown as Session);
  const request = session.setPermissionRequestHandler.mock.calls[0]?.[0];
  const check = session.setPermissionCheckHandler.mock.calls[0]?.[0];
  const asked = (permission: string, requestingUrl: string) => {
    const answer = vi.fn();
    request({}, permission, answer, { requestingUrl });
    expect(check({}, permission, requestingUrl)).toBe(answer.mock.calls[0]?.[0]);
    return answer.mock.calls[0]?.[0];
  };
  expect(asked('notifications', 'app://studio/')).toBe(true);
  expect(asked('notifications', 'https://example.org/')).toBe(false);
  expect(asked('media', 'app://studio/')).toBe(false);
});
