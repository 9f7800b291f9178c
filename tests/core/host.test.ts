import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import { keyOf, proofOf, randomHex } from '../../core/contract/handshake.ts';
import type { Endpoint } from '../../core/server/http.ts';
import { rawRequest, rawSocket, upgrade } from './fixtures/raw-request.ts';
import { openApi } from './fixtures/sign-in.ts';
import { World } from './fixtures/world.ts';

const protocols = `starpo, ${'0'.repeat(32)}, ${'1'.repeat(32)}`;

describe('the HTTP endpoint', { timeout: 60_000 }, () => {
  let world: World;
  let host: Endpoint;
  beforeAll(async () => {
    world = new World();
    const web = join(world.folder, 'web');
    mkdirSync(join(web, 'assets'), { recursive: true });
    writeFileSync(join(web, 'index.html'), '<!doctype html><title>app</title>');
    writeFileSync(join(web, 'assets/app.js'), 'let app');
    writeFileSync(join(world.folder, 'secret'), 'secret');
    host = await (await world.studio({ endpoint: { port: 0, webFolder: web } })).endpoint();
  });
  afterAll(() => world.close());

  test('serves the page and its files with the security headers', async () => {
    const page = await rawRequest(host.origin, '/');
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('app') });
    expect(page.headers['content-type']).toContain('text/html');
    const script = await rawRequest(host.origin, '/assets/app.js');
    expect(script).toMatchObject({ status: 200, body: 'let app' });
    expect(script.headers['content-type']).toContain('text/javascript');
    for (const { headers } of [page, script, await rawRequest(host.origin, '/nothing')]) {
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self'/);
      expect(headers['content-security-policy']).toContain('worker-src blob:;');
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

  test('accepts only GET', async () => {
    expect((await rawRequest(host.origin, '/', {}, 'POST')).status).toBe(405);
  });

  test("accepts only this machine's host names, as a defense against DNS rebinding", async () => {
    expect((await rawRequest(host.origin, '/', { Host: 'evil.example:80' })).status).toBe(403);
    expect((await rawRequest(host.origin, '/', { Host: 'localhost:9999' })).status).toBe(200);
    const headers = { ...upgrade(protocols), Host: 'evil.example' };
    expect((await rawRequest(host.origin, '/api', headers)).status).toBe(403);
  });

  test.each([
    ['id and nonce', protocols, undefined, 101],
    ['id and nonce from its own origin', protocols, 'http://localhost:7717', 101],
    ['id and nonce from a foreign origin', protocols, 'https://evil.example', 403],
    ['id and nonce from an opaque origin', protocols, 'null', 403],
    ['an origin that only starts like ours', protocols, 'http://127.0.0.1.evil.example', 403],
    ['no nonce', `starpo, ${'0'.repeat(32)}`, undefined, 401],
    ['a shorter id', `starpo, ${'0'.repeat(31)}, ${'1'.repeat(32)}`, undefined, 401],
    ['neither id nor nonce', 'starpo', undefined, 401],
    ['another protocol', protocols.replace('starpo', 'other'), undefined, 401],
  ])('answers a WebSocket request with %s', async (_, requested, origin, status) => {
    const headers = { ...upgrade(requested), ...(origin === undefined ? {} : { Origin: origin }) };
    expect((await rawRequest(host.origin, '/api', headers)).status).toBe(status);
  });

  test.each(['/other', '//', '//api', '/%zz', '*', 'http://'])('rejects a WebSocket request for %s', async (path) => {
    const headers = upgrade(protocols);
    expect((await rawRequest(host.origin, path, headers)).status).toBe(404);
    expect((await rawRequest(host.origin, '/api?from=page', headers)).status).toBe(101);
  });

  test.each(['//', '*', 'http://', 'http://evil.example/'])('survives a request for %s', async (path) => {
    expect((await rawRequest(host.origin, path)).status).toBeGreaterThanOrEqual(200);
    expect((await rawRequest(host.origin, '/')).status).toBe(200);
  });

  test('a wrong token is reported with a code', async () => {
    const opening = openApi({ ...host, token: 'wrong' });
    await expect(opening).rejects.toMatchObject({ code: 'host_untrusted', hint: expect.stringMatching(/./) });
  });

  /** Opens a raw connection and completes the handshake. */
  const openRaw = async () => {
    const id = randomHex();
    const nonce = randomHex();
    const key = await keyOf(host.token, id, new URL(host.origin).port);
    const raw = await rawSocket(host.origin, '/api', upgrade(`starpo, ${id}, ${nonce}`));
    const [, theirs] = /"nonce":"([0-9a-f]+)"/.exec(await raw.receivedMatching(/"proof"/))!;
    raw.socket.write(text(JSON.stringify({ proof: await proofOf(key, 'client', [nonce, theirs!]) })));
    await raw.receivedMatching(/"code"/);
    return raw;
  };

  const text = (payload: string) => frame(0x81, Buffer.from(payload));
  test.each<[string, Buffer]>([
    ['bytes that are not a frame', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a frame without a mask', Buffer.from([0x81, 0x02, 0x68, 0x69])],
    ['a frame with an unknown opcode', frame(0x83, Buffer.alloc(0))],
    ['a frame with reserved bits', frame(0xf1, Buffer.from('{}'))],
    ['text that is not UTF-8', frame(0x81, Buffer.from([0xff, 0xfe, 0xc0]))],
    ['a continuation without a start', frame(0x80, Buffer.from('{}'))],
    ['a ping that is too long', frame(0x89, Buffer.alloc(126))],
    ['a frame header with an oversized length', Buffer.from('81ff00000000400000000000000061', 'hex')],
  ])('%s closes only the connection that sent it', async (_, bytes) => {
    const other = await openApi(host);
    const { socket, ended } = await openRaw();
    socket.write(bytes);
    await ended;
    expect(await createClient(other).call('runs.list', {})).toEqual([]);
    other.close();
  });

  test('ignores binary messages and joins fragmented text', async () => {
    const { socket, receivedMatching } = await openRaw();
    const call = (i: string) => JSON.stringify({ t: 'q', i, m: 'call', a: ['runs.list', {}] });
    socket.write(frame(0x82, Buffer.from(call('bytes'))));
    const pieces = Buffer.from(call('pieces'));
    socket.write(frame(0x01, pieces.subarray(0, 10)));
    socket.write(frame(0x80, pieces.subarray(10)));
    socket.write(text(call('last')));
    const answers = await receivedMatching(/"i":"last"/);
    expect(answers).toContain('"i":"pieces"');
    expect(answers).not.toContain('"i":"bytes"');
    socket.destroy();
  });

  test('a rejected client that keeps its connection open does not delay closing', async () => {
    const other = new World();
    const studio = await other.studio();
    const { origin } = await studio.endpoint();
    const { hostname, port } = new URL(origin);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const headers = Object.entries({ Host: hostname, ...upgrade('starpo, wrong') });
    socket.write(`GET /api HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    await once(socket.resume(), 'end');
    await studio.close();
    socket.destroy();
    await other.close();
  });

  test('reports a busy port with a hint', async () => {
    const port = Number(new URL(host.origin).port);
    const busy = world.studio({ endpoint: { port, webFolder: world.folder } });
    await expect(busy).rejects.toMatchObject({
      code: 'port_busy',
      hint: expect.stringMatching(/already running at (\S+)\..*--port/),
    });
    await expect(busy).rejects.toMatchObject({ hint: expect.stringContaining(host.address) });
  });
});

/** Returns an unfragmented client frame with a mask of zeros. */
function frame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? [first, 0x80 | length] : [first, 0xfe, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}
