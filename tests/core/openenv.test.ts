import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import { Actions } from '../../core/openenv/actions.ts';
import { Adapter } from '../../core/openenv/adapter.ts';
import { manifest, valueAt } from '../../core/openenv/manifest.ts';
import { SocketSession } from '../../core/openenv/socket-session.ts';
import { commandOf, EnvironmentProgram } from '../../core/own-environments/program.ts';
import { type Fault, OpenEnvServer, recordedAnswers, schemaOf } from './fixtures/openenv-server.ts';

const servers: OpenEnvServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.kill())));

async function serve(session: string): Promise<OpenEnvServer> {
  const server = await new OpenEnvServer(session).listen();
  servers.push(server);
  return server;
}

const reset = { seed: 3, split: 'train' as const };

async function play(session: string, environment: string, settings: z.input<typeof manifest> = {}) {
  const server = await serve(session);
  const read = manifest.parse({ answer_seconds: 5, connect_seconds: 1, ...settings });
  const open = () => SocketSession.open(`${server.address.replace('http', 'ws')}/ws`, read);
  return { server, adapter: new Adapter(open, read, new Actions(schemaOf(environment))) };
}

describe('recorded sessions', () => {
  test('a grid world is played to its end, with the names of its enum as actions', async () => {
    const { server, adapter } = await play('grid-episode', 'grid_world', { text: 'message', anchor: ['x', 'y'] });
    expect(new Actions(schemaOf('grid_world')).names).toEqual(['UP', 'DOWN', 'LEFT', 'RIGHT']);
    expect(await adapter.reset(1, reset)).toEqual({
      observation: 'Welcome to Grid World! Goal is at [4, 4].',
      anchor: '[0,0]',
    });
    expect(await adapter.step(1, 'down')).toEqual({
      ...{ observation: 'Keep going...', anchor: '[1,0]', reward: -0.1 },
      ...{ done: false, success: false, valid: true },
    });
    for (const action of ['DOWN', 'DOWN', 'DOWN', 'RIGHT', 'RIGHT', 'RIGHT']) await adapter.step(1, action);
    expect(await adapter.step(1, '{"action": "RIGHT"}')).toMatchObject({ reward: 1, done: true, success: true });
    await expect(adapter.step(1, 'LEFT')).rejects.toThrow('the episode has ended');
    await adapter.end();
    expect(server.received.at(0)).toEqual({ type: 'reset', data: { seed: 3 } });
    expect(server.received.at(-1)).toEqual({ type: 'close' });
  });

  test('legal actions, boards and success come from the fields that the manifest names', async () => {
    const settings = {
      ...{ text: 'board', board: 'board', actions: 'legal_actions', reset: { train: { opponent: 'self' } } },
      success: { field: 'state.step_count', equals: 7 },
    };
    const { server, adapter } = await play('connect4-win', 'connect4', settings);
    const start = await adapter.reset(1, reset);
    expect(start.actions).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(start.board).toBe(Array(6).fill('0000000').join('\n'));
    expect(server.received[0]).toEqual({ type: 'reset', data: { seed: 3, opponent: 'self' } });
    expect(await adapter.step(1, '0')).toMatchObject({ reward: 0, done: false, success: false });
    expect((await adapter.step(1, '1')).board).toMatch(/ 1 -1 {2}0 {2}0 {2}0 {2}0 {2}0$/);
    await adapter.end();
  });

  test("a response that is not an action is the policy's fault, and never reaches the server", async () => {
    const { server, adapter } = await play('grid-errors', 'grid_world', { text: 'message' });
    await adapter.reset(1, reset);
    await adapter.step(1, 'DOWN');
    for (const response of ['jump', '{"action": 5}', '{"action": "DOWN", "speed": 2}', '', '[]', 'null'])
      expect(await adapter.step(1, response)).toMatchObject({
        observation: expect.stringMatching(/^Invalid action: .*\n\nKeep going\.\.\.$/s),
        ...{ reward: 0, done: false, valid: false, effective: false },
      });
    expect(server.received.map(({ type }) => type)).toEqual(['reset', 'step']);
    await adapter.end();
  });

  test('tools are listed in the first observation and called with JSON; their errors are text', async () => {
    const { adapter } = await play('echo-tools', 'echo');
    const { observation } = await adapter.reset(1, reset);
    expect(observation).toContain('Answer with {"tool_name": ..., "arguments": {...}}.\n{"name":"echo_message"');
    const call = (name: string, given: object) => JSON.stringify({ tool_name: name, arguments: given });
    expect(await adapter.step(1, call('echo_message', { message: 'Hello, Wörld 😀' }))).toMatchObject({
      ...{ observation: 'Hello, Wörld 😀', reward: 0, done: false, valid: true },
    });
    expect(await adapter.step(1, call('echo_with_length', { message: 'abc' }))).toMatchObject({
      observation: '{"message":"abc","length":3}',
    });
    expect(await adapter.step(1, 'echo hello')).toMatchObject({ valid: false });
    await adapter.end();
    const [, , unknown] = recordedAnswers('echo-tool-errors');
    expect(unknown?.data?.observation).toMatchObject({ error: { error_type: 'invalid_args' } });
  });
});

test('responses become actions by the schema', () => {
  const actions = (properties: object, required: string[]) =>
    new Actions({ type: 'object', properties, required, additionalProperties: false });
  const message = actions({ message: { type: 'string' }, metadata: { type: 'object' } }, ['message']);
  expect(message.parse('hello')).toEqual({ action: { message: 'hello' } });
  expect(message.parse('"hello"')).toEqual({ action: { message: 'hello' } });
  expect(message.parse('```json\n{"message": "hi"}\n```')).toEqual({ action: { message: 'hi' } });
  expect(message.parse('{"a": 1}')).toEqual({ action: { message: '{"a": 1}' } });
  const number = actions({ action: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }, ['action']);
  expect(number.parse(' 3 ')).toEqual({ action: { action: 3 } });
  expect(number.parse('3.5')).toEqual({ problem: expect.stringMatching(/^action must /) });
  const two = actions({ x: { type: 'integer' }, y: { type: 'integer' } }, ['x', 'y']);
  expect(two.parse('{"x": 1, "y": 2}')).toEqual({ action: { x: 1, y: 2 } });
  expect(two.parse('1')).toEqual({ problem: 'Answer with a JSON object (x, y).' });
});

test('an address becomes a command of the client', () => {
  expect(commandOf(' http://127.0.0.1:8000/ ')).toBe('starpo-openenv http://127.0.0.1:8000/');
  expect(commandOf("ws://host/a?b=1&c='$(x)'")).toBe("starpo-openenv 'ws://host/a?b=1&c='\\''$(x)'\\'''");
  expect(commandOf('python3 maze.py http://a')).toBe('python3 maze.py http://a');
});

test('text that repeats what came before is cut to the new part', async () => {
  const { server, adapter } = await play('grid-episode', 'grid_world', { text: 'message', text_repeats: true });
  let text = '';
  server.fault = (socket, { type }) => {
    if (type !== 'close') text += `[${type}]`;
    socket.send(
      JSON.stringify({ type: 'observation', data: { observation: { message: text }, reward: 0, done: false } }),
    );
  };
  expect((await adapter.reset(1, reset)).observation).toBe('[reset]');
  expect((await adapter.step(1, 'UP')).observation).toBe('[step]');
  expect((await adapter.step(1, 'UP')).observation).toBe('[step]');
  await adapter.end();
});

describe('faults', () => {
  const observation = (extra: object) =>
    JSON.stringify({ type: 'observation', data: { observation: {}, reward: 0, done: false, ...extra } });
  const faults: [string, Fault, RegExp][] = [
    ['a dead socket', (socket) => socket.terminate(), /closed the connection \(1006\)/],
    ['a server that shuts down', (socket) => socket.close(1012, 'restart'), /closed the connection \(1012 restart\)/],
    ['garbage', (socket) => socket.send('garbage {'), /sent an invalid message: garbage \{/],
    ['a binary message', (socket) => socket.send(Buffer.from([1, 2])), /invalid message: a binary message/],
    ['a message of 50 MB', (socket) => socket.send('x'.repeat(50_000_000)), /Max payload size exceeded/],
    ['a hang', () => {}, /did not answer within 0\.2 s/],
    [
      'another type of answer',
      (socket) => socket.send('{"type":"state","data":{}}'),
      /sent .*state.* instead of "observation"/,
    ],
    ['no reward', (socket) => socket.send(observation({ reward: null })), /is null, which can mean NaN/],
    [
      'a reward that is a text',
      (socket) => socket.send(observation({ reward: '1' })),
      /invalid: reward must be a number/,
    ],
    ['no end', (socket) => socket.send(observation({ done: null })), /invalid: done must be true or false/],
    [
      'an exception',
      (socket) => socket.send(JSON.stringify(recordedAnswers('probe-exceptions')[0])),
      /'NoneType' object has no attribute/,
    ],
    [
      'a long text',
      (socket) => socket.send(observation({ observation: { text: 'x'.repeat(500_000) } })),
      /has 5000\d\d characters/,
    ],
  ];
  test.each(faults)('%s ends the episode with a reason, and the next one is played', async (name, fault, reason) => {
    const limit = name === 'a hang' ? 0.2 : 10;
    const { server, adapter } = await play('grid-episode', 'grid_world', { answer_seconds: limit });
    await adapter.reset(1, reset);
    server.fault = fault;
    await expect(adapter.step(1, 'DOWN')).rejects.toThrow(reason);
    adapter.close(1);
    server.fault = null;
    expect(await adapter.reset(2, reset)).toHaveProperty('observation');
    expect(await adapter.step(2, 'DOWN')).toMatchObject({ reward: -0.1 });
    await adapter.end();
  });

  test('two answers to one request end the episode', async () => {
    const { server, adapter } = await play('grid-episode', 'grid_world');
    await adapter.reset(1, reset);
    server.fault = (socket, _, answer) => {
      socket.send(JSON.stringify(answer));
      socket.send(JSON.stringify(answer));
    };
    await adapter.step(1, 'DOWN');
    await expect(adapter.step(1, 'DOWN')).rejects.toThrow('without a request');
    await adapter.end();
  });

  test('a full server gets fewer connections, and a full server without own episodes is polled until it has capacity', async () => {
    const { server, adapter } = await play('grid-episode', 'grid_world');
    server.capacity = 2;
    const answers = await Promise.all([1, 2, 3, 4].map((id) => adapter.reset(id, reset)));
    expect(answers.filter(({ busy }) => busy)).toHaveLength(2);
    expect(server.most).toBe(2);
    const playing = [1, 2, 3, 4].filter((id) => !answers[id - 1]!.busy);
    for (const id of playing) adapter.close(id);
    // Their places are free only after the server has closed them.
    expect(await adapter.reset(5, reset)).toHaveProperty('observation');
    await adapter.end();

    server.capacity = 0;
    const late = adapter.reset(6, reset);
    server.capacity = 1;
    expect(await late).toHaveProperty('observation');
    await adapter.end();
  });

  test('a server that restarts is connected to again', async () => {
    const { server, adapter } = await play('grid-episode', 'grid_world', { connect_seconds: 5 });
    await adapter.reset(1, reset);
    const port = Number(new URL(server.address).port);
    await server.kill();
    servers.splice(0);
    await expect(adapter.step(1, 'DOWN')).rejects.toThrow('closed the connection');
    adapter.close(1);
    const next = adapter.reset(2, reset);
    servers.push(await new OpenEnvServer('grid-episode').listen(port));
    expect(await next).toHaveProperty('observation');
    await adapter.end();
  });
});

test('the program speaks the process protocol, closes its connections at the end and reports an invalid manifest', async () => {
  const server = await serve('grid-episode');
  const directory = mkdtempSync(join(tmpdir(), 'openenv-'));
  writeFileSync(join(directory, 'grid.json'), '{"name": "Grid", "text": "message", "connections": 3}');
  const program = new EnvironmentProgram(
    { command: `starpo-openenv ${server.address} --manifest grid.json`, directory },
    20,
  );
  expect(await program.hello()).toEqual({
    ...{ version: 1, name: 'Grid', episodes: 3, actions: ['UP', 'DOWN', 'LEFT', 'RIGHT'] },
  });
  const id = program.newEpisode();
  expect((await program.reset(id, 3)).observation).toBe('Welcome to Grid World! Goal is at [4, 4].');
  expect(await program.step(id, 'DOWN')).toMatchObject({ observation: 'Keep going...', reward: -0.1 });
  await program.endInput();
  expect(server.received.at(-1)).toEqual({ type: 'close' });

  writeFileSync(join(directory, 'wrong.json'), '{"texts": "message"}');
  const wrong = new EnvironmentProgram(
    { command: `starpo-openenv ${server.address} --manifest wrong.json`, directory },
    20,
  );
  await expect(wrong.hello()).rejects.toThrow('the manifest wrong.json is invalid');
});

test('over HTTP one episode is played at a time, by one client at a time', async () => {
  const server = await serve('grid-episode');
  server.http = true;
  const command = `starpo-openenv ${server.address} --http`;
  const directory = mkdtempSync(join(tmpdir(), 'openenv-'));
  const program = new EnvironmentProgram({ command, directory }, 20);
  expect(await program.hello()).toMatchObject({ episodes: 1, actions: ['UP', 'DOWN', 'LEFT', 'RIGHT'] });
  // A second client waits, because its reset would end the episode of the first.
  let log = '';
  const second = new EnvironmentProgram({ command, directory }, 20, (text) => {
    log += text;
  });
  const greeting = second.hello();
  await vi.waitFor(() => expect(log).toContain('HTTP allows only one client'), 10_000);

  await program.reset(program.newEpisode(), 3);
  for (const action of ['DOWN', 'DOWN', 'DOWN', 'DOWN', 'RIGHT', 'RIGHT', 'RIGHT'])
    expect(await program.step(1, action)).toMatchObject({ reward: -0.1, done: false, valid: true });
  expect(await program.step(1, 'no action')).toMatchObject({ reward: 0, valid: false });
  expect(await program.step(1, 'RIGHT')).toMatchObject({ reward: 1, done: true, success: true });
  expect(server.received.map(({ type }) => type)).toEqual(['reset', ...Array(8).fill('step')]);
  expect(server.received[0]).toEqual({ type: 'reset', data: { seed: 3 } });
  await program.endInput();

  expect(await greeting).toMatchObject({ episodes: 1 });
  expect(await second.reset(second.newEpisode(), 4)).toHaveProperty('observation');
  server.http = false;
  await expect(second.step(1, 'DOWN')).rejects.toThrow('http_404');
  await second.endInput();
});

test('a path reads fields of objects and numbered items of lists, the last by -1', () => {
  const observation = { messages: [{ content: 'first' }, { content: 'last' }] };
  expect(valueAt(observation, 'messages.0.content')).toBe('first');
  expect(valueAt(observation, 'messages.-1.content')).toBe('last');
  for (const path of ['messages.content', 'messages.length', 'messages.', 'messages.2', 'none'])
    expect(valueAt(observation, path)).toBeUndefined();
});
