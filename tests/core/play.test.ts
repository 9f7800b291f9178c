import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { channelPair } from '../../core/contract/channel.ts';
import { type Client, createClient } from '../../core/contract/client.ts';
import type { Frame, Game } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { EnvironmentProcess } from '../../core/trainer/environment.ts';
import { thorough } from '../thorough.ts';
import { failure } from './fixtures/imported-config.ts';
import { playableRun } from './fixtures/playable.ts';
import { describeWithTrainer, resources, trainer } from './fixtures/real-trainer.ts';
import { World } from './fixtures/world.ts';

const greedy = { temperature: 0, topP: 1, topK: 0, minP: 0 };

describeWithTrainer('a game', { timeout: 60_000 }, () => {
  const world = new World();
  let core: Core;
  let client: Client;
  let disconnect: () => void;
  let runId: string;
  beforeAll(async () => {
    core = await world.core(trainer, { resources });
    runId = await playableRun(core, 'starter-frozen-lake', { threads: 1 }, [0, 7]);
    ({ client, disconnect } = newClient());
  });
  afterAll(() => world.close());

  function newClient() {
    const { left, right } = channelPair();
    serveChannel(core, right);
    return { client: createClient(left), disconnect: () => left.close() };
  }

  /** Resolves with the game once the agent's episode is over. */
  function untilPlayed(id: string, by = client): Promise<Game> {
    return new Promise((resolve) => {
      const stop = by.on('play', ({ game }) => {
        if (game.id !== id || game.agent.state !== 'over') return;
        stop();
        resolve(game);
      });
    });
  }

  async function playedBy(id: string, sampling = greedy): Promise<Game> {
    const over = untilPlayed(id);
    await client.call('play.agent', { gameId: id, sampling });
    return over;
  }

  const comparable = (frames: readonly Frame[]) =>
    frames.map(({ turn, step, action, board, reward, total, slipped, success, done }) => ({
      ...{ turn, step, action, board, reward, slipped, success, done },
      total: Math.round(total * 1e6) / 1e6,
    }));

  test.each([
    ['starter-frozen-lake', { 'environments.0.config.is_slippery': true }, { topK: 1 }],
    ['starter-sokoban', { 'rollout.context_turns': 1 }, { minP: 1 }],
    ['starter-bandit', {}, { topP: 0.01 }],
  ])('the policy plays as in the trainer: %s, %j, %j', async (preset, set, change) => {
    const own = await playableRun(core, preset, { ...set, threads: 1 });
    const levels = thorough ? 6 : 3;
    const sampling = { ...greedy, temperature: 1, ...change };
    const settings = { ...sampling, checkpoint: 0, levels, name: 'greedy' };
    const evaluated = new Promise<void>((resolve) => {
      const stop = core.notices.on((name, payload) => {
        const { runId, evaluation } = payload as { runId: string; evaluation: { state: string } };
        if (name !== 'evaluation' || runId !== own || evaluation.state !== 'done') return;
        stop();
        resolve();
      });
    });
    await core.evaluations.start(own, settings);
    await evaluated;
    const handlers = createHandlers(core);
    const episodes = await handlers['evaluations.episodes']({ runId: own, name: 'greedy' });
    const { id } = await client.call('play.open', { runId: own, checkpoint: 0 });
    let moves = 0;
    let contexts = 0;
    for (const [index, { id: episodeId, seed, ended, success }] of episodes.entries()) {
      await client.call('play.level', { gameId: id, level: index + 1 });
      const { agent, seed: ownSeed } = await playedBy(id, sampling);
      const replay = await handlers['evaluations.replay']({ runId: own, name: 'greedy', episodeId });
      expect(ownSeed).toBe(seed);
      expect(comparable(agent.frames)).toEqual(comparable(replay.frames));
      expect(agent.turns).toMatchObject(
        replay.turns.map(({ response, think, answer, formatValid, tokens }) => ({
          ...{ response, think, answer, formatValid, tokens },
        })),
      );
      expect(agent).toMatchObject({ ended, success });
      moves += agent.frames.length - 1;
      contexts += replay.turns.filter(({ beginsContext }) => beginsContext).length;
    }
    expect(episodes).toHaveLength(levels);
    expect(moves).toBeGreaterThan(levels - 1);
    expect(contexts > 0).toBe('rollout.context_turns' in set);
  });

  test('offers the checkpoints and environments of the run', async () => {
    expect(await client.call('play.choices', { runId })).toMatchObject({
      checkpoints: [7, 0],
      environments: [{ label: 'frozen-lake', type: 'frozen-lake' }],
      sampling: { temperature: 0.5, topP: 1, topK: 0, minP: 0 },
    });
    const open = (options: object) => client.call('play.open', { runId, checkpoint: 0, ...options });
    await expect(open({ checkpoint: 3 })).rejects.toMatchObject({ code: 'checkpoint_missing' });
    await expect(open({ environment: 'chess' })).rejects.toMatchObject({ code: 'environment_unknown' });
    await expect(client.call('play.get', { gameId: 'none' })).rejects.toMatchObject({ code: 'game_unknown' });
  });

  test("stores the user's success rate from the tenth level on", async () => {
    const { id: gameId, ...game } = await client.call('play.open', { runId, checkpoint: 7 });
    expect(game).toMatchObject({
      level: 1,
      actions: ['Left', 'Down', 'Right', 'Up'],
      maxMoves: 10,
      maxActionsPerTurn: 5,
    });
    const invalid = client.call('play.move', { gameId, action: 'Jump' });
    await expect(invalid).rejects.toMatchObject({ code: 'move_invalid' });
    const stored = new Promise<unknown>((resolve) => client.on('humanSuccess', resolve));
    let solved = 0;
    for (let level = 1; level <= 10; level += 1) {
      let { you } = await client.call('play.level', { gameId, level });
      for (const action of shortestPath(you.frames[0]!.board!)) {
        ({ you } = await client.call('play.move', { gameId, action: action.toLowerCase() }));
        if (you.state === 'over') break;
      }
      expect(you).toMatchObject({ state: 'over', success: true, ended: 'done' });
      solved += 1;
      const again = await client.call('play.restart', { gameId });
      expect(again.you).toMatchObject({ state: 'ready', movesLeft: 10, frames: [{ action: null }] });
    }
    const rate = { environment: 'frozen-lake', levels: 10, successes: solved };
    expect(await stored).toEqual({ runId, humanSuccess: [rate] });
    expect((await client.call('runs.get', { runId })).humanSuccess).toEqual([rate]);
    const lines = readFileSync(join(core.runs.folder(runId), 'annotations.jsonl'), 'utf8').trimEnd();
    expect(JSON.parse(lines.split('\n').at(-1)!)).toMatchObject({ type: 'human_success', ...rate });
  });

  test("counts only the first try of a level, and an agent's result per checkpoint", async () => {
    const { id: gameId } = await client.call('play.open', { runId, checkpoint: 7, level: 3 });
    await client.call('play.move', { gameId, action: 'Up' });
    const { results } = await client.call('play.restart', { gameId });
    expect(results).toEqual([{ level: 3, agent: null, you: { success: false, moves: 1 } }]);
    const played = await playedBy(gameId);
    expect(played.results[0]!.agent).toMatchObject({ success: played.agent.success });
    const other = await client.call('play.checkpoint', { gameId, checkpoint: 0 });
    expect(other).toMatchObject({ checkpoint: 0, level: 3, agent: { state: 'ready', turns: [] } });
    expect(other.results).toEqual(results);
  });

  test('streams the response and stops on request', async () => {
    const { id: gameId } = await client.call('play.open', { runId, checkpoint: 7 });
    /** Resolves with the first part of a response, or with null if the episode ended before one was published. */
    const nextPart = () =>
      new Promise<string | null>((resolve) => {
        const stop = client.on('play', ({ game: { agent } }) => {
          if (!agent.text && agent.state !== 'over') return;
          stop();
          resolve(agent.text);
        });
      });
    let part: string | null = null;
    while (part === null) {
      const next = nextPart();
      await client.call('play.agent', { gameId, sampling: { ...greedy, temperature: 1 } });
      part = await next;
      if (part === null) await client.call('play.restart', { gameId });
    }
    expect(part).toMatch(/^<think>/);
    const stopped = await client.call('play.stop', { gameId });
    // The episode may have ended just before.
    expect(stopped.agent).toMatchObject({ state: 'over', text: null, failure: null });
  });

  test('ends when its client disconnects or opens another game', async () => {
    const first = await client.call('play.open', { runId, checkpoint: 7 });
    const second = await client.call('play.open', { runId, checkpoint: 7 });
    await expect(client.call('play.get', { gameId: first.id })).rejects.toMatchObject({
      code: 'game_unknown',
    });
    const other = newClient();
    const theirs = await other.client.call('play.open', { runId, checkpoint: 7 });
    disconnect();
    const get = (gameId: string) => other.client.call('play.get', { gameId });
    await expect(get(second.id)).rejects.toMatchObject({ code: 'game_unknown' });
    expect((await get(theirs.id)).id).toBe(theirs.id);
    rmSync(join(core.runs.folder(runId), 'checkpoints/000007'), { recursive: true });
    const missing = other.client.call('play.checkpoint', { gameId: theirs.id, checkpoint: 7 });
    await expect(missing).rejects.toMatchObject({ code: 'checkpoint_missing' });
    expect((await get(theirs.id)).checkpoint).toBe(7);
    await other.client.call('play.close', { gameId: theirs.id });
    await expect(get(theirs.id)).rejects.toMatchObject({ code: 'game_unknown' });
  });

  test('closes its policy and its processes if one of them cannot be started', async () => {
    const exited = new Promise((resolve) => process.once('worker', (worker: Worker) => worker.once('exit', resolve)));
    const play = vi.spyOn(core.trainer, 'play');
    const environment = vi.spyOn(core.trainer, 'environment').mockImplementation(() => {
      throw new Error('spawn E2BIG');
    });
    const opened = newClient().client.call('play.open', { runId, checkpoint: 0 });
    await expect(opened).rejects.toThrow('spawn E2BIG');
    await exited;
    await expect(play.mock.results[0]!.value.begin(1)).rejects.toMatchObject({ code: 'game_unknown' });
    play.mockRestore();
    environment.mockRestore();
  });

  // Must be the last test, since it closes all games.
  test("a request that the trainer rejects fails with the trainer's hint", async () => {
    const run = JSON.parse(readFileSync(join(core.runs.folder(runId), 'run.json'), 'utf8'));
    const environment = new EnvironmentProcess(trainer, 'frozen-lake', run.environments[0].config, undefined);
    await expect(environment.step('Up')).rejects.toThrow(
      failure('no_episode', /^The trainer can't continue: no episode is active/, /^Reset the environment first\.$/),
    );
    environment.close();
  });

  test('ends with its thread before the app exits, even without a client or while the policy loads', async () => {
    const running = new Set<Worker>();
    const watch = (worker: Worker) => {
      running.add(worker);
      worker.once('exit', () => running.delete(worker));
    };
    process.on('worker', watch);
    const [player, waiter] = [newClient(), newClient()];
    const { id: gameId } = await player.client.call('play.open', { runId, checkpoint: 0 });
    await player.client.call('play.agent', { gameId, sampling: greedy });
    const loading = new Promise((resolve) => process.once('worker', resolve));
    const refused = expect(waiter.client.call('play.open', { runId, checkpoint: 0 })).rejects.toMatchObject({
      code: 'game_unknown',
    });
    await loading;
    expect(running.size).toBe(2);
    player.disconnect();
    await core.games.close();
    process.off('worker', watch);
    expect(running.size).toBe(0);
    await refused;
  });
});

/** Returns the actions of a shortest path from P to G. */
function shortestPath(board: string): string[] {
  const rows = board.split('\n');
  const row = rows.findIndex((line) => line.includes('P'));
  const paths: { row: number; column: number; path: string[] }[] = [{ row, column: rows[row]!.indexOf('P'), path: [] }];
  const seen = new Set<string>();
  for (const { row, column, path } of paths) {
    const cell = rows[row]?.[column];
    if (cell === undefined || cell === 'O' || seen.has(`${row} ${column}`)) continue;
    if (cell === 'G') return path;
    seen.add(`${row} ${column}`);
    const next = (dy: number, dx: number, action: string) =>
      paths.push({ row: row + dy, column: column + dx, path: [...path, action] });
    next(1, 0, 'Down');
    next(0, 1, 'Right');
    next(-1, 0, 'Up');
    next(0, -1, 'Left');
  }
  throw new Error(`no path\n${board}`);
}
