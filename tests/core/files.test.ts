import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createClient } from '../../core/contract/client.ts';
import type { Endpoint } from '../../core/server/http.ts';
import * as journal from './fixtures/journal.ts';
import { rawRequest } from './fixtures/raw-request.ts';
import { World } from './fixtures/world.ts';

describe('downloading a file of a run', () => {
  let world: World;
  let host: Endpoint;
  beforeAll(async () => {
    world = new World();
    const folder = world.run('some-run', [journal.started(0)]);
    mkdirSync(join(folder, 'rollouts'));
    writeFileSync(join(folder, 'rollouts/a b.json'), '{"a":1}');
    writeFileSync(join(folder, 'empty'), '');
    writeFileSync(join(world.folder, 'secret'), 'secret');
    symlinkSync(join(world.folder, 'secret'), join(folder, 'link'));
    symlinkSync(world.folder, join(folder, 'folder-link'));
    host = await (await world.studio()).endpoint();
  });
  afterAll(() => world.close());

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const code = new URL(host.address).hash.slice('#sign-in='.length);
    return rawRequest(host.origin, path, { Authorization: `Bearer ${code}`, ...headers }, method);
  };

  test.each([
    ['some-run/events.jsonl', `${journal.started(0)}\n`],
    ['some-run/rollouts/a%20b.json', '{"a":1}'],
    ['some-run/empty', ''],
  ])('%s is sent completely, as an attachment', async (path, body) => {
    const answer = await get(`/api/files/${path}`);
    expect(answer).toMatchObject({ status: 200, body });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
  });

  test.each([
    '',
    'some-run',
    'some-run/',
    'some-run/nothing',
    'some-run/rollouts',
    'some-run/link',
    'some-run/folder-link/secret',
    'some-run/../../token',
    'some-run/..%2f..%2ftoken',
    '../token',
    'other-run/run.json',
    'some-run/%00',
    'some-run/%zz',
  ])('%j is not found', async (path) => {
    const { status, body } = await get(`/api/files/${path}`);
    expect(status).toBe(404);
    expect(body).not.toContain('secret');
  });

  test.each<[string, Record<string, string>, string, number]>([
    ['a missing code', { Authorization: '' }, 'GET', 401],
    ['a wrong code', { Authorization: `Bearer ${'0'.repeat(32)}` }, 'GET', 401],
    ['a foreign origin', { Origin: 'https://evil.example' }, 'GET', 403],
    ['a foreign host', { Host: 'evil.example' }, 'GET', 403],
    ['another method', {}, 'PUT', 405],
  ])('a request with %s is rejected', async (_, headers, method, status) => {
    const answer = await get('/api/files/some-run/events.jsonl', headers, method);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain('started');
  });
});

describe('uploading a bundle', () => {
  let world: World;
  let host: Endpoint;
  let client: Client;
  beforeAll(async () => {
    world = new World();
    world.run('some-run', [journal.started(0), journal.stopped(1, 0)]);
    const studio = await world.studio();
    client = createClient(await studio.open());
    host = await studio.endpoint();
  });
  afterAll(() => world.close());

  const begin = async (bytes: number) => (await client.call('uploads.begin', { bytes })).file;
  const signedIn = () => `Bearer ${new URL(host.address).hash.slice('#sign-in='.length)}`;
  const exchanged = () => readdirSync(join(world.home, 'exchange'));
  const put = (file: string, content: Buffer, headers: Record<string, string | undefined> = {}, method = 'PUT') => {
    const all = { Authorization: signedIn(), 'Content-Length': String(content.length), ...headers };
    const own = Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    return rawRequest(host.origin, `/api/uploads/${file}`, own, method, content);
  };

  test('is accepted once, and the bundle is imported', async () => {
    const whole = { checkpoints: 'all', episodes: 'all' } as const;
    const made = await client.call('bundles.export', { runId: 'some-run', ...whole });
    const content = readFileSync(join(made.folder, made.files[0]!.name));
    const file = await begin(content.length);
    expect((await put(file, content)).status).toBe(204);
    expect((await put(file, content)).status).toBe(404);
    const uploads = [{ file, name: 'some-run.zip' }];
    const { runId } = await client.call('imports.run', { uploads, key: 'some-run.zip' });
    expect(runId).toMatch(/^some-run-/);
    await client.call('uploads.drop', { files: [file] });
    expect(exchanged()).toEqual([]);
  });

  test.each<[string, Record<string, string | undefined>, string, number]>([
    ['a missing code', { Authorization: '' }, 'PUT', 401],
    ['a foreign origin', { Origin: 'https://evil.example' }, 'PUT', 403],
    ['another method', {}, 'GET', 405],
    ['no length', { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' }, 'PUT', 411],
  ])('is rejected with %s', async (_, headers, method, status) => {
    const file = await begin(4);
    expect((await put(file, Buffer.from('abcd'), headers, method)).status).toBe(status);
    expect(exchanged()).toEqual([`${file}.announced`]);
    await client.call('uploads.drop', { files: [file] });
  });

  test('leaves no file if it is unexpected, has the wrong length or is aborted', async () => {
    expect((await put('0'.repeat(32), Buffer.from('x'))).status).toBe(404);
    expect((await put('..%2f..%2ftoken', Buffer.from('x'))).status).toBe(404);
    const short = await begin(4);
    expect((await put(short, Buffer.from('abcde'))).status).toBe(413);
    const cut = await begin(1000);
    const { hostname, port } = new URL(host.origin);
    const headers = { Authorization: signedIn(), 'Content-Length': '1000' };
    const sent = request({ hostname, port, path: `/api/uploads/${cut}`, method: 'PUT', headers });
    sent.on('error', () => {});
    sent.write('abc');
    await expect.poll(() => exchanged()).toEqual([`${cut}.partial`]);
    sent.destroy();
    await expect.poll(() => exchanged()).toEqual([]);
    await expect(client.call('imports.inspect', { uploads: [{ file: cut, name: 'cut' }] })).rejects.toMatchObject({
      code: 'file_incomplete',
    });
  });
});
