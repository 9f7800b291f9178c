import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWebSocket } from '../../core/api/web-socket.ts';
import { type Host, startHost } from '../../core/host/http.ts';
import type { Core } from '../../core/index.ts';
import { rawRequest, upgrade } from './fixtures/raw-request.ts';
import { World } from './fixtures/world.ts';

describe('the host', { timeout: 60_000 }, () => {
  let world: World;
  let core: Core;
  let host: Host;
  beforeAll(async () => {
    world = new World();
    core = await world.core();
    const web = join(world.folder, 'web');
    mkdirSync(join(web, 'assets'), { recursive: true });
    writeFileSync(join(web, 'index.html'), '<!doctype html><title>app</title>');
    writeFileSync(join(web, 'assets/app.js'), 'let app');
    writeFileSync(join(world.folder, 'secret'), 'secret');
    host = await startHost(core, web, 0);
  });
  afterAll(async () => {
    await host.close();
    await world.close();
  });

  test('serves the page and its files with the security headers', async () => {
    const page = await rawRequest(host.origin, '/');
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('app') });
    expect(page.headers['content-type']).toContain('text/html');
    const script = await rawRequest(host.origin, '/assets/app.js');
    expect(script).toMatchObject({ status: 200, body: 'let app' });
    expect(script.headers['content-type']).toContain('text/javascript');
    for (const { headers } of [page, script, await rawRequest(host.origin, '/nothing')]) {
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self'/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  test.each([
    ['/nothing', 404],
    ['/../secret', 404],
    ['/..%2fsecret', 404],
    ['/%2e%2e/secret', 404],
    ['/assets/..%2f..%2fsecret', 404],
    ['/%00', 404],
    ['/%zz', 404],
    ['//secret', 404],
    ['/assets', 404],
  ])('%s is %i', async (path, status) => {
    const answer = await rawRequest(host.origin, path);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain('secret');
  });

  test('takes GET alone', async () => {
    expect((await rawRequest(host.origin, '/', {}, 'POST')).status).toBe(405);
  });

  test('answers to names of this machine alone, so that no foreign name can be bent to it', async () => {
    expect((await rawRequest(host.origin, '/', { Host: 'evil.example:80' })).status).toBe(403);
    expect((await rawRequest(host.origin, '/', { Host: 'localhost:9999' })).status).toBe(200);
    const headers = { ...upgrade(`starpo, ${host.token}`), Host: 'evil.example' };
    expect((await rawRequest(host.origin, '/api', headers)).status).toBe(403);
  });

  test.each([
    ['the token', () => `starpo, ${host.token}`, undefined, 101],
    ['the token from its own page', () => `starpo, ${host.token}`, 'http://localhost:7717', 101],
    ['the token from a foreign page', () => `starpo, ${host.token}`, 'https://evil.example', 403],
    ['the token from a page of no origin', () => `starpo, ${host.token}`, 'null', 403],
    [
      'a name that only begins like ours',
      () => `starpo, ${host.token}`,
      'http://127.0.0.1.evil.example',
      403,
    ],
    ['another token', () => `starpo, ${'0'.repeat(64)}`, undefined, 401],
    ['a shorter token', () => `starpo, ${host.token.slice(1)}`, undefined, 401],
    ['no token', () => 'starpo', undefined, 401],
    ['another protocol', () => `other, ${host.token}`, undefined, 401],
  ])('a WebSocket with %s', async (_, protocols, origin, status) => {
    const headers = { ...upgrade(protocols()), ...(origin === undefined ? {} : { Origin: origin }) };
    expect((await rawRequest(host.origin, '/api', headers)).status).toBe(status);
  });

  test.each(['/other', '//', '//api', '/%zz', '*', 'http://'])(
    'there is no WebSocket at %s',
    async (path) => {
      const headers = upgrade(`starpo, ${host.token}`);
      expect((await rawRequest(host.origin, path, headers)).status).toBe(404);
      expect((await rawRequest(host.origin, '/api?from=page', headers)).status).toBe(101);
    },
  );

  test.each(['//', '*', 'http://', 'http://evil.example/'])('a request for %s does no harm', async (path) => {
    expect((await rawRequest(host.origin, path)).status).toBeGreaterThanOrEqual(200);
    expect((await rawRequest(host.origin, '/')).status).toBe(200);
  });

  test('a wrong token is told of by code', async () => {
    await expect(openWebSocket(host.origin, 'wrong')).rejects.toMatchObject({ code: 'connection_refused' });
  });

  test('is announced for its owner alone, and the first of a data folder stays', async () => {
    const path = join(world.home, 'host.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      address: host.origin,
      token: host.token,
      pid: process.pid,
    });
    expect(host.address).toBe(`${host.origin}/#token=${host.token}`);
  });

  test('a busy port is told of with a way out', async () => {
    const busy = startHost(core, world.folder, Number(new URL(host.origin).port));
    await expect(busy).rejects.toMatchObject({
      code: 'port_busy',
      hint: expect.stringMatching(/already at (\S+);.*--port/),
    });
    await expect(busy).rejects.toMatchObject({ hint: expect.stringContaining(host.address) });
    expect(JSON.parse(readFileSync(join(world.home, 'host.json'), 'utf8')).token).toBe(host.token);
  });
});
