import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../core/server/http.ts';
import * as journal from './fixtures/journal.ts';
import { rawRequest } from './fixtures/raw-request.ts';
import { World } from './fixtures/world.ts';

describe('files of runs', () => {
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
  ])('%s comes whole, as something to save', async (path, body) => {
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
  ])('%j is no file', async (path) => {
    const { status, body } = await get(`/api/files/${path}`);
    expect(status).toBe(404);
    expect(body).not.toContain('secret');
  });

  test.each<[string, Record<string, string>, string, number]>([
    ['nobody', { Authorization: '' }, 'GET', 401],
    ['a wrong code', { Authorization: `Bearer ${'0'.repeat(32)}` }, 'GET', 401],
    ['a foreign page', { Origin: 'https://evil.example' }, 'GET', 403],
    ['a foreign host', { Host: 'evil.example' }, 'GET', 403],
    ['who would write', {}, 'PUT', 405],
  ])('%s gets none', async (_, headers, method, status) => {
    const answer = await get('/api/files/some-run/events.jsonl', headers, method);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain('started');
  });
});
