import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { processEnvironment } from '../../core/environments/process.ts';
import { EnvironmentProgram } from '../../core/own-environments/program.ts';
import { parseFrame, readIndex, readRollout } from '../../core/run-directory/rollouts.ts';
import { commandDigest } from '../../core/trainer/confirmed-commands.ts';
import { sameRun, trainTinyPolicy } from './tiny-run.ts';
import {
  finalMetrics,
  journalReaches,
  newRun,
  readJournal,
  root,
  sha256,
  startTrainer,
  temporaryHome,
  train,
} from './trainer-process.ts';

const home = temporaryHome();
const directory = join(root, 'examples/environments');
/** Returns the messages of a recorded session, after comparing them with the JSON Schema of their page. */
function recordedSession(page: string) {
  const read = (file: string) => readFileSync(join(root, 'docs/formats', file), 'utf8');
  const schema = JSON.parse(read(`${page}.schema.json`));
  const messageOf = (name: string) => z.fromJSONSchema({ ...schema, $ref: `#/$defs/${name}` });
  const [request, answer] = [messageOf('request'), messageOf('answer')];
  const lines = read(`examples/${page}.jsonl`).trim().split('\n');
  const messages = lines.map((line): { trainer?: unknown; program?: unknown } => JSON.parse(line));
  for (const { trainer, program } of messages) {
    if (trainer) request.parse(trainer);
    else answer.parse(program);
  }
  return {
    answer,
    requests: messages.flatMap(({ trainer }) => (trainer ? [trainer] : [])),
    answers: messages.flatMap(({ program }) => (program ? [program] : [])),
  };
}

/** Returns what an example answers to requests. */
async function answersOf(command: string, args: readonly string[], requests: readonly unknown[]): Promise<unknown[]> {
  const child = spawn(command, args, { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const answers: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) answers.push(JSON.parse(line));
  return answers;
}

test('the recorded sessions follow the schemas, and the examples answer them again', async () => {
  const environment = recordedSession('process-environment');
  const misspelled = { id: 1, observation: 's', reward: 1, done: true, sucess: true };
  expect(environment.answer.safeParse(misspelled).success).toBe(false);
  expect(await answersOf(process.execPath, ['2048.mjs', '16'], environment.requests)).toEqual(environment.answers);

  const reward = recordedSession('reward-program');
  expect(reward.answer.safeParse({ id: 1, terms: { judge: '1' } }).success).toBe(false);
  expect(reward.answer.safeParse({ id: 1, terms: { 'a/b': 1 } }).success).toBe(false);
  expect(await answersOf('python3', ['reward.py'], reward.requests)).toEqual(reward.answers);
});

test('the examples have at most 60 lines', () => {
  for (const file of readdirSync(directory))
    expect(readFileSync(join(directory, file), 'utf8').split('\n').length).toBeLessThanOrEqual(61);
});

const settings = {
  ...{ iterations: 6, threads: 1, 'evaluation.levels': 1, 'evaluation.every': 0, 'diagnostics.every': 0 },
  ...{ 'rollout.groups': 2, 'rollout.group_size': 2, 'rollout.max_response_tokens': 40, 'policy_loss.mini_batch': 2 },
  ...{ 'filter.strategy': 'none', 'checkpoint.every': 3 },
};

let template: Promise<string> | undefined;

/** Creates a run on an example, perhaps with a reward program, and returns its folder and the variables of a trainer that may start the command. */
async function runOn(name: string, command: string, reward = '') {
  template ??= trainTinyPolicy(home).then((model) =>
    newRun(home, 'starter-frozen-lake', { ...settings, 'start.model': model }),
  );
  const folder = sameRun(await template, name);
  const config = { ...processEnvironment.preset.config, command, directory, processes: 2 };
  const path = join(folder, 'run.json');
  const run = JSON.parse(readFileSync(path, 'utf8'));
  run.environments = [
    { ...processEnvironment.preset, label: 'own', config, max_turns: 2, max_actions_per_turn: 4, max_actions: 8 },
  ];
  run.reward.program = { ...run.reward.program, command: reward, directory, weight: 0.5 };
  writeFileSync(path, JSON.stringify(run));
  const digests = [command, reward].map((each) => commandDigest({ command: each, directory }));
  return { folder, confirmed: { STARPO_CONFIRMED_COMMANDS: digests.join() } };
}

const scored = z.object({
  reward: z.number(),
  reward_terms: z.record(z.string(), z.number()),
  steps: z.array(z.object({ think: z.string().nullable(), terms: z.record(z.string(), z.number()) })),
});

/** Returns the first episode of an iteration. */
async function firstEpisode(folder: string, iteration: number, split: string) {
  const name = `rollouts/${String(iteration).padStart(6, '0')}-${split}`;
  const paths = { file: `${name}.jsonl.zst`, index: `${name}.index.json` };
  const [entry] = await readIndex(folder, paths);
  return parseFrame(scored, paths, await readRollout(folder, paths), entry!);
}

test('2048 trains with a reward program, and a killed run continues bit-identically', {
  timeout: 60_000,
}, async () => {
  const command = `${process.execPath} 2048.mjs 16`;
  const reward = 'python3 reward.py';
  const whole = await runOn('whole', command, reward);
  expect(await train(whole.folder, whole.confirmed)).toBe(0);
  const metrics = finalMetrics(readJournal(whole.folder));
  expect(metrics['iteration 6']).toMatchObject({ 'rollout/environment_failure_rate': 0 });
  expect(metrics['iteration 6']!['rollout/actions']).toBeGreaterThan(0);
  expect(Object.keys(metrics['iteration 6']!)).toEqual(
    expect.arrayContaining(['rollout/reward_term/names_action', 'rollout/reward_term/repetition']),
  );
  for (const split of ['train', 'own']) {
    const { reward, reward_terms, steps } = await firstEpisode(whole.folder, 6, split);
    const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
    expect(sum(Object.values(reward_terms))).toBeCloseTo(reward, 9);
    expect(sum(steps.flatMap(({ terms }) => Object.values(terms)))).toBeCloseTo(reward, 9);
    for (const { terms } of steps) expect([0, 0.025]).toContain(terms.names_action);
  }

  const killed = await runOn('killed', command, reward);
  const child = startTrainer(killed.folder, killed.confirmed);
  const ended = once(child, 'exit');
  await journalReaches(killed.folder, child, (events) =>
    events.some(({ type, iteration }) => type === 'iteration' && iteration === 2),
  );
  child.kill('SIGKILL');
  await ended;
  expect(await train(killed.folder, killed.confirmed)).toBe(0);
  expect(finalMetrics(readJournal(killed.folder))).toEqual(metrics);
  const weights = (folder: string) => sha256(join(folder, 'checkpoints/000006/model.safetensors'));
  expect(weights(killed.folder)).toBe(weights(whole.folder));
});

test('Countdown trains: any text is an action', { timeout: 60_000 }, async () => {
  const { folder, confirmed } = await runOn('countdown', 'python3 countdown.py');
  expect(await train(folder, confirmed)).toBe(0);
  const last = finalMetrics(readJournal(folder))['iteration 6']!;
  expect(last).toMatchObject({ 'rollout/environment_failure_rate': 0 });
  expect(last['rollout/actions']).toBeGreaterThan(0);
});

const program = async (expression: string, play: (program: EnvironmentProgram) => Promise<void>) => {
  const shim = `python3 ${join(directory, 'python_env.py')} family_classes '${expression}'`;
  const program = new EnvironmentProgram({ command: shim, directory: join(import.meta.dirname, 'python') }, 30);
  try {
    await program.hello();
    await play(program);
    await program.endInput();
  } finally {
    program.kill();
  }
};

test('classes of Gymnasium, RAGEN and verl-agent are environments', { timeout: 60_000 }, async () => {
  await Promise.all([
    program('Gym()', async (gym) => {
      expect(await gym.reset(1, 7)).toEqual({ id: 1, observation: 'at 1', actions: ['0', '1'] });
      expect(await gym.step(1, '0')).toMatchObject({ observation: 'at 1', reward: 0, done: false, success: false });
      expect(await gym.step(1, '1')).toMatchObject({ observation: 'at 2', reward: 0.5, done: false });
      expect(await gym.step(1, '1')).toMatchObject({ observation: 'at 3', done: true, success: true, valid: true });
    }),
    program('Ragen(Config())', async (ragen) => {
      const first = await ragen.reset(1, 7);
      expect(first).toEqual({ id: 1, observation: expect.stringMatching(/^train \d$/), actions: ['left', 'right'] });
      expect(await ragen.step(1, 'Left')).toMatchObject({
        ...{ observation: `${first.observation} 1`, reward: 1, done: false, success: false, valid: false },
      });
      expect(await ragen.step(1, 'RIGHT')).toMatchObject({ reward: 2, done: true, success: true, valid: true });
      ragen.close(1);
      // The same level, also on the reused environment.
      expect((await ragen.reset(2, 7)).observation).toBe(first.observation);
      expect((await ragen.reset(3, 7, 'validation')).observation).toBe(first.observation.replace('train', 'val'));
    }),
    program('Bare()', async (bare) => {
      expect(await bare.reset(1, 7)).toEqual({ id: 1, observation: 'level 7', actions: null });
      expect(await bare.step(1, 'Toggle 2')).toMatchObject({ observation: 'did Toggle 2', reward: 1, done: true });
    }),
    program('build(seed)', async (manager) => {
      expect(await manager.reset(1, 7)).toEqual({ id: 1, observation: 'turn 0: level 7', anchor: 'A' });
      expect(await manager.step(1, 'open')).toMatchObject({
        ...{ observation: 'turn 1: open', anchor: 'A', reward: 1, done: false, success: true, valid: true },
      });
      expect(await manager.step(1, 'open')).toMatchObject({ done: true });
      await expect(manager.step(1, 'fail')).rejects.toThrow('ValueError: out of levels');
    }),
  ]);
});

test('the trainer runs no command that was not confirmed', async () => {
  const { folder } = await runOn('unconfirmed', 'touch was-run; cat');
  expect(await train(folder, { STARPO_CONFIRMED_COMMANDS: commandDigest({ command: 'cat', directory }) })).toBe(1);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'failed', code: 'command_not_confirmed' });
});
