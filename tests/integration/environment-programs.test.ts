import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { processEnvironment } from '../../core/environments/process.ts';
import { commandDigest } from '../../core/trainer/confirmed-commands.ts';
import { sameRun } from './tiny-run.ts';
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
const schema = JSON.parse(readFileSync(join(root, 'docs/formats/process-environment.schema.json'), 'utf8'));
const recorded = readFileSync(join(root, 'docs/formats/examples/process-environment.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): { trainer?: unknown; program?: unknown } => JSON.parse(line));

const messageOf = (name: string) => z.fromJSONSchema({ ...schema, $ref: `#/$defs/${name}` });

test('the recorded session follows the schema, and the example answers it again', async () => {
  const [request, answer] = [messageOf('request'), messageOf('answer')];
  for (const { trainer, program } of recorded) {
    if (trainer) request.parse(trainer);
    else answer.parse(program);
  }
  expect(answer.safeParse({ id: 1, observation: 's', reward: 1, done: true, sucess: true }).success).toBe(false);
  const child = spawn(process.execPath, ['2048.mjs', '16'], { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
  const requests = recorded.flatMap(({ trainer }) => (trainer ? [`${JSON.stringify(trainer)}\n`] : []));
  child.stdin.end(requests.join(''));
  const answers: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) answers.push(JSON.parse(line));
  expect(answers).toEqual(recorded.flatMap(({ program }) => (program ? [program] : [])));
});

test('the examples have at most 60 lines', () => {
  for (const file of ['2048.mjs', 'countdown.py'])
    expect(readFileSync(join(directory, file), 'utf8').split('\n').length).toBeLessThanOrEqual(61);
});

const settings = {
  iterations: 2,
  threads: 1,
  'rollout.groups': 2,
  'rollout.group_size': 2,
  'rollout.max_response_tokens': 60,
  'policy_loss.mini_batch': 2,
  'evaluation.levels': 1,
  'evaluation.every': 0,
  'checkpoint.every': 1,
};

let template: Promise<string> | undefined;

/** Creates a run on an example, and returns its folder and the variables of a trainer that may start the command. */
async function runOn(name: string, command: string) {
  template ??= newRun(home, 'starter-frozen-lake', settings);
  const folder = sameRun(await template, name);
  const config = { ...processEnvironment.preset.config, command, directory, processes: 2 };
  const path = join(folder, 'run.json');
  const run = JSON.parse(readFileSync(path, 'utf8'));
  run.environments = [
    { ...processEnvironment.preset, label: 'own', config, max_turns: 2, max_actions_per_turn: 4, max_actions: 8 },
  ];
  writeFileSync(path, JSON.stringify(run));
  return { folder, confirmed: { STARPO_CONFIRMED_COMMANDS: commandDigest({ command, directory }) } };
}

test('2048 trains with the starter policy, and a killed run continues bit-identically', {
  timeout: 60_000,
}, async () => {
  const command = `${process.execPath} 2048.mjs 16`;
  const whole = await runOn('whole', command);
  expect(await train(whole.folder, whole.confirmed)).toBe(0);
  const metrics = finalMetrics(readJournal(whole.folder));
  expect(metrics['iteration 2']).toMatchObject({ 'rollout/environment_failure_rate': 0 });
  expect(metrics['iteration 2']!['rollout/actions']).toBeGreaterThan(0);

  const killed = await runOn('killed', command);
  const child = startTrainer(killed.folder, killed.confirmed);
  const ended = once(child, 'exit');
  await journalReaches(killed.folder, child, (events) =>
    events.some(({ type, iteration }) => type === 'iteration' && iteration === 1),
  );
  child.kill('SIGKILL');
  await ended;
  expect(await train(killed.folder, killed.confirmed)).toBe(0);
  expect(finalMetrics(readJournal(killed.folder))).toEqual(metrics);
  const weights = (folder: string) => sha256(join(folder, 'checkpoints/000002/model.safetensors'));
  expect(weights(killed.folder)).toBe(weights(whole.folder));
});

test('Countdown trains: any text is an action', { timeout: 60_000 }, async (context) => {
  if (!hasPython()) return context.skip();
  const { folder, confirmed } = await runOn('countdown', 'python3 countdown.py');
  expect(await train(folder, confirmed)).toBe(0);
  const [iteration] = readJournal(folder).filter(({ type }) => type === 'iteration');
  expect(iteration?.metrics).toMatchObject({ 'rollout/environment_failure_rate': 0 });
  expect(iteration?.metrics?.['rollout/actions']).toBeGreaterThan(0);
});

test('the trainer runs no command that was not confirmed', async () => {
  const { folder } = await runOn('unconfirmed', 'touch was-run; cat');
  expect(await train(folder, { STARPO_CONFIRMED_COMMANDS: commandDigest({ command: 'cat', directory }) })).toBe(1);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'failed', code: 'command_not_confirmed' });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', '']);
    return true;
  } catch {
    return false;
  }
}
