import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentChecks } from '../../core/contract/contract.ts';
import { checkProgram } from '../../core/own-environments/checks.ts';
import { commandLine } from '../command-line.ts';
import { root } from './fixtures/world.ts';

const directory = join(root, 'examples/environments');
const hello = { hello: { version: 1, name: 'Test', episodes: 4 } };

/** Returns the command of a program that answers hello, then every reset and step as given. */
const answering = (reset: string, step: string, extra = '') =>
  `exec ${process.execPath} -e '
    let count = 0;
    require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, hello, reset, step } = JSON.parse(line);
      count++;
      if (hello) console.log(JSON.stringify(${JSON.stringify(hello)}));
      else if (reset) console.log(JSON.stringify({ id, ...(${reset}) }));
      else if (step !== undefined) console.log(JSON.stringify({ id, ...(${step}) }));
    });${extra}'`;

async function failures(command: string, limit = 20, folder = directory): Promise<Record<string, string>> {
  const rows = await checkProgram({ command, directory: folder }, limit);
  return Object.fromEntries(
    rows.filter(({ verdict }) => verdict === 'failed').map(({ check, reason }) => [check, reason]),
  );
}

test('the examples pass', async () => {
  const rows = await checkProgram({ command: `${process.execPath} 2048.mjs 16`, directory }, 20);
  expect(Object.fromEntries(rows.map(({ check, verdict, reason }) => [check, reason || verdict]))).toEqual({
    'starts and answers hello': 'ok',
    'plays episodes with valid answers and finite rewards': 'ok',
    'answers in time': expect.stringMatching(/^slowest answer: \d+ ms$/),
    'answers are at most 1 MiB long': expect.stringMatching(/^longest answer: \d+ characters$/),
    'the same seed gives the same episode': 'ok',
    'an episode can be closed before its end': 'ok',
    'a step after the end is tolerated': 'ok',
    'each action is answered, in upper and lower case': 'ok',
    'malformed actions are answered': 'actions have names',
    "parallel episodes don't affect each other": '64 episodes',
    'a new process gives the same episode after a crash': 'ok',
    'exits at the end of its input': 'ok',
  });
  expect(rows.map(({ check }) => check)).toEqual(environmentChecks);
  expect(rows.filter(({ verdict }) => verdict === 'skipped')).toHaveLength(1);
});

test('each fault is found, with its reason', async () => {
  for (const [folder, problem] of [
    ['/nope', 'The folder /nope was not found.'],
    [process.execPath, `${process.execPath} is not a folder.`],
  ] as const)
    expect(await failures('true', 20, folder)).toEqual({ 'starts and answers hello': problem });
  expect(await failures('exit 3')).toEqual({ 'starts and answers hello': 'The program ended with status 3.' });
  expect(await failures('echo hi; cat')).toEqual({
    'starts and answers hello': expect.stringContaining('The program wrote an invalid line'),
  });
  const [start, step] = ['{ observation: "s" }', '{ observation: "s", reward: 1, done: true }'];
  expect(await failures(answering(start, step))).toEqual({});
  expect(await failures(answering(start, '{ observation: "s", reward: null, done: true }'))).toMatchObject({
    'plays episodes with valid answers and finite rewards': 'Invalid answer: reward must be a number.',
  });
  const terms = '{ observation: "s", reward: 1, terms: { win: 0.5 }, done: true }';
  expect(await failures(answering(start, terms))).toMatchObject({
    'plays episodes with valid answers and finite rewards': 'Invalid answer: terms must add up to the reward.',
  });
  expect(await failures("printf '\\344\\n'; cat")).toEqual({
    'starts and answers hello': 'The program wrote bytes that are not UTF-8.',
  });
  expect(await failures(answering('{ observation: String(count) }', step))).toEqual({
    'the same seed gives the same episode': expect.stringContaining('gave a different episode'),
  });
  expect(
    await failures(
      answering(start, '(step.length > 9999 ? process.exit(7) : { observation: "s", reward: 1, done: true })'),
    ),
  ).toEqual({
    'malformed actions are answered': 'The program ended with status 7.',
  });
  const crashing = '(step === "x" ? process.exit(3) : { observation: "s", reward: 1, done: true })';
  expect(await failures(answering(start, crashing))).toEqual({
    'a step after the end is tolerated': expect.stringContaining('The program ended with status 3.'),
  });
  expect(await failures(answering(start, step, 'setInterval(() => {}, 1000);'), 2)).toEqual({
    'exits at the end of its input': 'The program did not exit after the end of its input within 2 s.',
  });
});

test('a program is played in the terminal until the end of the input', () => {
  const args = [commandLine, 'env', 'play', `${process.execPath} 2048.mjs 8`, '--directory', directory];
  const output = execFileSync(process.execPath, args, { input: 'left\nup\n', encoding: 'utf8', timeout: 30_000 });
  expect(output).toContain('2048, seed 10000');
  expect(output.match(/^reward .*$/gm)).toEqual(['reward 0.5', 'reward 0']);
});
