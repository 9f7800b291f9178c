import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createClient } from '../../core/contract/client.ts';
import { type ClientKey, keyFromToken, keyOf, oneTimeCode, randomHex } from '../../core/contract/handshake.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';
import { reachCore } from '../../core/server/reach.ts';
import { rawRequest } from './fixtures/raw-request.ts';
import { openApi, signIn } from './fixtures/sign-in.ts';
import { World } from './fixtures/world.ts';

/** Another user's program on the port of a previous server. It records everything it receives. */
class Hostile {
  readonly received: string[] = [];
  /** Number of core's messages that it forwarded. */
  relayed = 0;
  private readonly server: Server;
  private readonly sockets: WebSocketServer;

  /** `relay`: origin to which it forwards everything, in both directions. */
  constructor(relay?: string) {
    this.server = createServer((request, response) => {
      this.note(request.headers, request.url);
      request.on('data', (data: Buffer) => this.received.push(data.toString()));
      request.on('end', () => response.writeHead(200).end('{"id":"x","key":"y"}'));
    });
    this.sockets = new WebSocketServer({ server: this.server, handleProtocols: () => 'starpo' });
    this.sockets.on('connection', (socket, request) => {
      this.note(request.headers, request.url);
      socket.on('message', (data) => this.received.push(data.toString()));
      if (!relay) return socket.send(JSON.stringify({ nonce: randomHex(), proof: 'f'.repeat(64) }));
      const protocols = request.headers['sec-websocket-protocol']!.split(/, */);
      const victim = new WebSocket(`${relay.replace('http', 'ws')}/api`, protocols);
      victim.on('message', (data) => {
        this.relayed += 1;
        socket.send(data.toString());
      });
      socket.on('message', (data) => victim.send(data.toString()));
      victim.on('close', () => socket.close());
      socket.on('close', () => victim.close());
    });
  }

  async listen(origin: string): Promise<void> {
    this.server.listen(Number(new URL(origin).port), '127.0.0.1');
    await once(this.server, 'listening');
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private note(headers: object, url: string | undefined): void {
    this.received.push(JSON.stringify({ headers, url }));
  }
}

describe('signing in', { timeout: 60_000 }, () => {
  let world: World;
  const hostiles: Hostile[] = [];
  beforeEach(() => {
    world = new World();
    mkdirSync(join(world.folder, 'web'));
    writeFileSync(join(world.folder, 'web/index.html'), '<title>app</title>');
  });
  afterEach(async () => {
    for (const hostile of hostiles.splice(0)) await hostile.close();
    await world.close();
  });
  const serve = (port = 0) => world.studio({ endpoint: { port, webFolder: join(world.folder, 'web') } });
  const portOf = (origin: string) => Number(new URL(origin).port);
  const hostileAt = async (origin: string, relay?: string) => {
    const hostile = new Hostile(relay);
    hostiles.push(hostile);
    await hostile.listen(origin);
    return hostile;
  };
  const answers = async (origin: string, key: ClientKey) => {
    const channel = await openWebSocket(origin, key);
    const runs = await createClient(channel).call('runs.list', {});
    channel.close();
    return runs;
  };

  test('gives every tab with the code its own key, and each key opens the API', async () => {
    const { origin, address } = await (await serve()).endpoint();
    const [first, second] = [await signIn(address), await signIn(address)];
    expect(first).not.toEqual(second);
    for (const key of [first, second]) expect(await answers(origin, key as ClientKey)).toEqual([]);
    const { id } = first as ClientKey;
    await expect(answers(origin, { id, key: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'host_untrusted',
    });
  });

  test('a one-time code signs in once, within a minute, and only on the server whose code made it', async () => {
    const { origin, code } = await (await serve()).endpoint();
    const attempt = (given: string) => signIn(`${origin}/#sign-in=${given}`);
    const once = await oneTimeCode(code);
    expect(await answers(origin, (await attempt(once)) as ClientKey)).toEqual([]);
    expect(await attempt(once)).toBe(401);
    expect(await attempt(await oneTimeCode(code, Date.now() - 1))).toBe(401);
    expect(await attempt(await oneTimeCode(randomHex()))).toBe(401);
    const later = (Date.now() + 1e9).toString(16).padStart(12, '0');
    expect(await attempt(later + (await oneTimeCode(code)).slice(12))).toBe(401);
  });

  test("a client with an invalid proof receives only the server's proof", async () => {
    const { origin } = await (await serve()).endpoint();
    const protocols = ['starpo', randomHex(), randomHex()];
    for (const proof of ['{"proof":"00"}', 'garbage', 'null', 'x'.repeat(2000)]) {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/api`, protocols);
      const received: string[] = [];
      socket.on('message', (data) => {
        received.push(data.toString());
        socket.send(proof);
        socket.send(JSON.stringify({ t: 'q', i: '1', m: 'call', a: ['runs.list', {}] }));
      });
      await once(socket, 'close');
      expect(received).toEqual([expect.stringContaining('"proof"')]);
    }
  });

  test.each<[string, number, Record<string, string>, string, string]>([
    ['a wrong code', 401, {}, 'POST', '{"code":"0"}'],
    ['invalid JSON', 401, {}, 'POST', 'garbage'],
    ['an oversized body', 401, {}, 'POST', JSON.stringify({ code: 'x'.repeat(5000) })],
    ['a form', 405, { 'Content-Type': 'text/plain' }, 'POST', ''],
    ['a GET request', 405, {}, 'GET', ''],
    ['a foreign origin', 403, { Origin: 'https://evil.example' }, 'POST', ''],
    ['a foreign host', 403, { Host: 'evil.example' }, 'POST', ''],
  ])('%s does not sign in', async (_, status, headers, method, body) => {
    const { origin } = await (await serve()).endpoint();
    const all = { 'Content-Type': 'application/json', ...headers };
    expect((await rawRequest(origin, '/api/sign-in', all, method, body)).status).toBe(status);
  });

  test('a key stays valid after a restart on the same port, where the code is new', async () => {
    const first = await serve();
    const { origin, address } = await first.endpoint();
    const key = (await signIn(address)) as ClientKey;
    await first.close();
    const second = await (await serve(portOf(origin))).endpoint();
    expect(await signIn(address)).toBe(401);
    const channel = await openWebSocket(origin, key);
    expect(second.address).toBe(`${origin}/#sign-in=${channel.code}`);
    channel.close();
  });

  test('a hostile server on the freed port receives no secret that a later process accepts', async () => {
    const first = await serve();
    const { origin, address, token } = await first.endpoint();
    const key = (await signIn(address)) as ClientKey;
    await first.close();
    const hostile = await hostileAt(origin);
    // An open page, a new tab with the old code, and a command with a stale record.
    await expect(openWebSocket(origin, key)).rejects.toMatchObject({ code: 'host_untrusted' });
    await signIn(address);
    expect(await reachCore(origin, token)).toBeNull();
    const received = hostile.received.join('\n');
    expect(received).toContain(new URL(address).hash.slice('#sign-in='.length));
    for (const secret of [key.key, token, 'cookie', 'Cookie']) expect(received).not.toContain(secret);
    expect(received).not.toContain('proof');
    await hostiles.pop()!.close();

    const later = await (await serve(portOf(origin))).endpoint();
    const words = [...new Set(received.match(/[0-9a-f]{32,}/g))];
    expect(words.length).toBeGreaterThan(3);
    for (const word of words) {
      expect(await signIn(`${later.origin}/#sign-in=${word}`)).toBe(401);
      await expect(answers(later.origin, { id: key.id, key: word })).rejects.toThrow();
      await expect(openApi({ origin: later.origin, token: word })).rejects.toThrow();
    }
    expect(await answers(later.origin, key)).toEqual([]);
  });

  test('a hostile server on the freed port cannot relay a page to the new port', async () => {
    const first = await serve();
    const { origin, address, token } = await first.endpoint();
    const key = (await signIn(address)) as ClientKey;
    await first.close();
    const later = await (await serve()).endpoint();
    const hostile = await hostileAt(origin, later.origin);
    await expect(openWebSocket(origin, key)).rejects.toMatchObject({ code: 'host_untrusted' });
    expect(await reachCore(origin, token)).toBeNull();
    expect(hostile.relayed).toBe(2);
  });

  test('no token is sent to another program on the port of a stale record', async () => {
    const first = await serve();
    const { origin, token } = await first.endpoint();
    await first.close();
    const hostile = await hostileAt(origin);
    const record = { address: origin, token, pid: process.pid, host: hostname() };
    writeFileSync(join(world.home, 'host.json'), JSON.stringify(record));
    const studio = await world.studio();
    const channel = await studio.open();
    expect(await createClient(channel).call('runs.list', {})).toEqual([]);
    expect(hostile.received.join('\n')).not.toContain(token);
  });
});

test('a connection to a silent program is closed', async () => {
  const silent = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'starpo' });
  await once(silent, 'listening');
  const disconnected = new Promise<void>((resolve) => {
    silent.on('connection', (socket) => socket.on('close', () => resolve()));
  });
  const { port } = silent.address() as AddressInfo;
  expect(await reachCore(`http://127.0.0.1:${port}`, 'token')).toBeNull();
  await disconnected;
  silent.close();
  await once(silent, 'close');
});

test('a key includes the default port of an address without one', async () => {
  const { id, key } = await keyFromToken('token', 'http://127.0.0.1:80');
  expect(key).toBe(await keyOf('token', id, '80'));
});
