import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHandlers } from '../../core/server/handlers.ts';
import { collectNotices, root, World } from './fixtures/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
  cpSync(join(root, 'examples/environments/2048.mjs'), join(world.folder, '2048.mjs'));
});
afterEach(() => world.close());

const command = `exec '${process.execPath}' 2048.mjs 8`;
const own = () => ({ command, directory: world.folder });

async function api() {
  const core = await world.core();
  const call = createHandlers(core);
  return { core, call };
}

test('a program is added after it was confirmed, checked row by row, played by hand, and becomes a preset', async () => {
  const { core, call } = await api();
  await expect(call['environments.add'](own())).rejects.toMatchObject({
    code: 'command_not_confirmed',
    unconfirmed: own(),
  });
  call['commands.confirm'](own());
  const added = await call['environments.add'](own());
  const actions = ['Left', 'Right', 'Up', 'Down'];
  expect(added).toMatchObject({ id: '2048', name: '2048', ...own(), actions });
  expect(added).toMatchObject({ confirmed: true, checks: null, preset: null });
  await expect(call['environments.add'](own())).rejects.toMatchObject({ code: 'environment_exists' });

  const notices = collectNotices(core, 'environmentCheck');
  const { checks } = await call['environments.check']({ id: '2048' });
  expect(checks!.rows.map(({ verdict }) => verdict)).not.toContain('failed');
  expect(notices.at(-1)).toEqual({ id: '2048', rows: checks!.rows });
  // The first rows arrive before the last check ends.
  expect(notices.map(({ rows }) => rows.length)).toEqual([1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]);

  const game = await call['environments.play']({ id: '2048', seed: 10_000 });
  expect(game).toMatchObject({ environmentId: '2048', actions, done: false });
  expect(game.frames).toMatchObject([{ action: null, board: game.observation, total: 0 }]);
  const moved = await call['environments.act']({ gameId: game.id, action: 'left' });
  expect(moved.frames[1]).toMatchObject({ action: 'Left', reward: 0.5, total: 0.5, effective: true });
  await expect(call['environments.act']({ gameId: game.id, action: 'jump' })).rejects.toMatchObject({
    code: 'move_invalid',
    hint: 'Actions: Left, Right, Up, Down.',
  });
  const again = await call['environments.play']({ id: '2048', seed: 10_000 });
  expect(again.frames[0]).toEqual(game.frames[0]);
  await expect(call['environments.act']({ gameId: game.id, action: 'Left' })).rejects.toMatchObject({
    code: 'game_unknown',
  });

  const rules = { max_turns: 7, max_actions_per_turn: 1, max_actions: 7 };
  const changes = collectNotices(core, 'environments');
  const updated = call['environments.update']({ id: '2048', name: 'Twenty', rules, preset: true });
  expect(updated).toMatchObject({ name: 'Twenty', preset: 'own-2048' });
  // Open windows reload the presets.
  expect(changes).toEqual([{ environments: [updated] }]);
  const cards = await call['presets.list']({});
  const own2048 = cards.filter(({ family }) => family === 'own-2048');
  expect(own2048.map(({ alias }) => alias)).toEqual(['own-2048', ...own2048.slice(1).map(() => null)]);
  expect(own2048[0]).toMatchObject({
    ...{ title: 'Twenty', algorithm: 'StarPO-S (PPO)', model: null },
    environments: [{ type: 'process', config: own() }],
  });
  const { runId } = await call['runs.create']({ preset: 'own-2048', set: { iterations: 2 }, start: false });
  const { config, summary } = await call['runs.get']({ runId });
  expect(config).toMatchObject({ environments: [{ label: '2048', ...rules, config: own() }] });
  expect(summary.name).toMatch(/^2048 [0-9a-f]{4}$/);

  await call['environments.remove']({ id: '2048' });
  expect(call['environments.list']({})).toEqual([]);
  expect(() => call['presets.config']({ preset: 'own-2048' })).toThrow('Unknown preset "own-2048".');
});

test('environments that are added at the same time have different ids, and a command is added once', async () => {
  const { call } = await api();
  const other = { ...own(), command: `${command} ` };
  for (const each of [own(), other]) call['commands.confirm'](each);
  const both = await Promise.all([call['environments.add'](own()), call['environments.add'](other)]);
  expect(both.map(({ id }) => id).sort()).toEqual(['2048', '2048-2']);
  const again = await Promise.allSettled([own(), other].map((each) => call['environments.add'](each)));
  expect(again).toMatchObject([{ reason: { code: 'environment_exists' } }, { reason: { code: 'environment_exists' } }]);
});

test('a program that does not start, a missing folder and an address are rejected with the reason', async () => {
  const { call } = await api();
  const trace = "printf 'a.mjs:3\\n\\nError: no tiles\\n    at a.mjs {\\n}\\n\\nNode.js v24.1.0\\n' >&2; exit 3";
  const broken = { command: trace, directory: world.folder };
  call['commands.confirm'](broken);
  await expect(call['environments.add'](broken)).rejects.toMatchObject({
    code: 'environment_failed',
    message: 'The program ended with status 3; its last error output is: Error: no tiles',
  });
  const missing = { command, directory: join(world.folder, 'missing') };
  await expect(call['environments.add'](missing)).rejects.toMatchObject({ code: 'directory_missing' });
  await expect(call['environments.add']({ address: 'localhost:8000' })).rejects.toMatchObject({
    code: 'address_invalid',
  });
  await expect(call['environments.add']({ address: 'http://localhost:8000' })).rejects.toMatchObject({
    unconfirmed: { command: 'starpo-openenv http://localhost:8000', directory: homedir() },
  });
  expect(call['environments.list']({})).toEqual([]);
});

test('actions that a program reports per level are those of its environment', async () => {
  const { call } = await api();
  const answers = ['{"hello":{"version":1,"name":"Named"}}', '{"id":1,"observation":"s","actions":["go"]}'];
  const script = answers.map((answer) => `read -r line; echo '${answer}'`).join('; ');
  const named = { command: `${script}; cat >/dev/null`, directory: world.folder };
  call['commands.confirm'](named);
  expect(await call['environments.add'](named)).toMatchObject({ name: 'Named', actions: ['go'] });
});

test('an unconfirmed command never runs, also if the list was copied from another computer', async () => {
  const marker = join(world.folder, 'was-run');
  const environment = { id: 'copied', name: 'Copied', command: `touch '${marker}'; cat`, directory: world.folder };
  const rules = { max_turns: 5, max_actions_per_turn: 1, max_actions: 5 };
  const entry = { ...environment, actions: null, rules, checks: null, preset: true };
  writeFileSync(join(world.home, 'environments.json'), JSON.stringify({ version: 1, environments: [entry] }));
  const { call } = await api();
  const refused = { code: 'command_not_confirmed', unconfirmed: { command: entry.command, directory: world.folder } };
  expect(call['environments.list']({})).toMatchObject([{ id: 'copied', confirmed: false }]);
  await expect(call['environments.check']({ id: 'copied' })).rejects.toMatchObject(refused);
  expect(() => call['environments.play']({ id: 'copied', seed: 1 })).toThrow(expect.objectContaining(refused));
  await expect(call['environments.watch']({ id: 'copied', policy: null })).rejects.toMatchObject(refused);
  expect(existsSync(marker)).toBe(false);
});

test('an invalid list is reported, not overwritten', async () => {
  const path = join(world.home, 'environments.json');
  writeFileSync(path, '{"version": 2}');
  const { call } = await api();
  expect(() => call['environments.list']({})).toThrow(expect.objectContaining({ code: 'environments_unreadable' }));
  call['commands.confirm'](own());
  await expect(call['environments.add'](own())).rejects.toMatchObject({ code: 'environments_unreadable' });
  expect(readFileSync(path, 'utf8')).toBe('{"version": 2}');
  expect((await call['presets.list']({})).length).toBeGreaterThan(0);
});

test('a trainer that fails while a policy plays is reported', async () => {
  const call = createHandlers(await world.core('/bin/false'));
  call['commands.confirm'](own());
  const { id } = await call['environments.add'](own());
  await expect(call['environments.watch']({ id, policy: null })).rejects.toMatchObject({ code: 'trainer_failed' });
});
