import type { CheckRow, EnvironmentCheck, OwnCommand } from '../contract/contract.ts';
import { messageOf } from '../contract/failure.ts';
import { EnvironmentProgram, type Hello, type StateAnswer, type StepAnswer } from './program.ts';

interface CheckOptions {
  /** Receives the rows so far, after each check. */
  onRows?: (rows: readonly CheckRow[]) => void;
  /** Receives the program's standard error. */
  onLog?: (text: string) => void;
  /** Ends the program. The checks then throw the signal's reason. */
  signal?: AbortSignal;
}

/** Maximum steps of an episode in a check. */
const maxSteps = 20;
const seeds = Array.from({ length: 8 }, (_, index) => 10_000 + index);
/** Maximum episodes to play at once. */
const maxAtOnce = 64;
/** Actions for programs that take any text. They include what models write by mistake. */
const texts = [
  '1 + 2',
  'look',
  '',
  ' ',
  '"quoted" \\ text',
  'ä€😀',
  'two\nlines',
  'x'.repeat(10_000),
  '{"a":1}',
  'null',
];

type Episode = [StateAnswer, ...StepAnswer[]];
/** Why a check does not apply, or what it measured; null if neither. */
type Outcome = { skipped?: string; measured?: string } | null;
type Test = (program: EnvironmentProgram, hello: Hello) => Promise<Outcome>;

/** Runs the conformance checks of an environment program, in order. Later checks are skipped if the program does not start. */
export async function checkProgram(
  own: OwnCommand,
  limit: number,
  { onRows, onLog, signal }: CheckOptions = {},
): Promise<CheckRow[]> {
  const rows: CheckRow[] = [];
  const add = (...found: (CheckRow & { check: EnvironmentCheck })[]) => {
    signal?.throwIfAborted();
    rows.push(...found);
    onRows?.([...rows]);
  };
  const run = async (check: EnvironmentCheck, test: Test) => {
    signal?.throwIfAborted();
    let program: EnvironmentProgram | undefined;
    const end = () => program?.kill();
    signal?.addEventListener('abort', end);
    try {
      program = new EnvironmentProgram(own, limit, onLog);
      const { skipped, measured = '' } = (await test(program, await program.hello())) ?? {};
      add({ check, verdict: skipped ? 'skipped' : 'ok', reason: skipped ?? measured });
    } catch (error) {
      add({ check, verdict: 'failed', reason: messageOf(error) });
    } finally {
      signal?.removeEventListener('abort', end);
      end();
    }
    return rows.at(-1)!.verdict !== 'failed';
  };

  if (!(await run('starts and answers hello', async () => null))) return rows;
  const runIf = async (skipped: string | null, check: EnvironmentCheck, test: Test) => {
    if (skipped === null) return run(check, test);
    add({ check, verdict: 'skipped', reason: skipped });
    return false;
  };
  let single: string[] = [];
  let measured = { slowest: 0, longest: 0 };
  let named: readonly string[] | null = null;
  const playsAll = await run('plays episodes with valid answers and finite rewards', async (program, hello) => {
    single = [];
    for (const seed of seeds) single.push(comparable(await play(program, hello, seed)));
    measured = program.measured;
    const first = await program.reset(program.newEpisode(), seeds[0]!);
    named = first.actions ?? hello.actions ?? null;
    return null;
  });
  const { slowest, longest } = measured;
  const verdict = playsAll ? 'ok' : 'skipped';
  add(
    { check: 'answers in time', verdict, reason: playsAll ? `slowest answer: ${Math.round(slowest)} ms` : failing },
    {
      check: 'answers are at most 1 MiB long',
      verdict,
      reason: playsAll ? `longest answer: ${longest} characters` : failing,
    },
  );
  // In another order, so that an episode that depends on earlier ones is found.
  const repeats = await runIf(
    playsAll ? null : failing,
    'the same seed gives the same episode',
    async (program, hello) => {
      for (const [index, seed] of [...seeds.entries()].reverse())
        expectEqual(
          comparable(await play(program, hello, seed)),
          single[index]!,
          `Seed ${seed} gave a different episode.`,
        );
      return null;
    },
  );
  const unrepeated = playsAll && repeats ? null : "episodes fail or don't repeat";
  const playAgain = async (program: EnvironmentProgram, hello: Hello) =>
    expectEqual(
      comparable(await play(program, hello, seeds[0]!)),
      single[0]!,
      'The next episode with the same seed was different.',
    );
  await run('an episode can be closed before its end', async (program, hello) => {
    const id = program.newEpisode();
    await program.reset(id, seeds[0]!);
    program.close(id);
    if (unrepeated) return { skipped: unrepeated };
    await playAgain(program, hello);
    return null;
  });
  await runIf(unrepeated, 'a step after the end is tolerated', async (program, hello) => {
    const { id, episode } = await playOpen(program, hello, seeds[0]!);
    if (!isDone(episode)) return { skipped: `the first episode has more than ${maxSteps} steps` };
    // Any answer will do, also an error.
    await program.step(id, 'x').catch(() => program.close(id));
    program.close(id);
    await playAgain(program, hello);
    return null;
  });
  const names = (named ?? []) as readonly string[];
  const unnamed = playsAll ? (names.length > 0 ? null : 'any text is an action') : failing;
  await runIf(unnamed, 'each action is answered, in upper and lower case', async (program) => {
    await stepWith(
      program,
      names.flatMap((name) => [name.toLowerCase(), name.toUpperCase()]),
    );
    return null;
  });
  const free = playsAll ? (names.length > 0 ? 'actions have names' : null) : failing;
  await runIf(free, 'malformed actions are answered', async (program) => {
    await stepWith(program, texts);
    return null;
  });
  await runIf(unrepeated, "parallel episodes don't affect each other", async (program, hello) => {
    const count = Math.min(hello.episodes, maxAtOnce);
    if (count === 1) return { skipped: 'the program plays one episode at a time' };
    const indices = Array.from({ length: count }, (_, index) => index % seeds.length);
    const episodes = await Promise.all(indices.map((index) => play(program, hello, seeds[index]!)));
    for (const [at, index] of indices.entries())
      expectEqual(
        comparable(episodes[at]!),
        single[index]!,
        `Seed ${seeds[index]} gave a different episode than when played alone.`,
      );
    return { measured: `${count} episodes` };
  });
  await runIf(unrepeated, 'a new process gives the same episode after a crash', async (program) => {
    await program.reset(program.newEpisode(), seeds[1]!);
    program.kill();
    await program.exited();
    const next = new EnvironmentProgram(own, limit);
    try {
      await playAgain(next, await next.hello());
    } finally {
      next.kill();
    }
    return null;
  });
  await run('exits at the end of its input', async (program) => {
    await program.endInput();
    return null;
  });
  return rows;
}

const failing = 'episodes fail';

/** Steps once with each action, each in an episode of its own. */
async function stepWith(program: EnvironmentProgram, actions: readonly string[]): Promise<void> {
  for (const action of actions) {
    const id = program.newEpisode();
    await program.reset(id, seeds[0]!);
    await program.step(id, action);
    program.close(id);
  }
}

/** Plays an episode with a fixed choice of actions and closes it. */
async function play(program: EnvironmentProgram, hello: Hello, seed: number): Promise<Episode> {
  const { id, episode } = await playOpen(program, hello, seed);
  program.close(id);
  return episode;
}

async function playOpen(
  program: EnvironmentProgram,
  hello: Hello,
  seed: number,
): Promise<{ id: number; episode: Episode }> {
  const id = program.newEpisode();
  const start = await program.reset(id, seed);
  const episode: Episode = [start];
  let last: StateAnswer = start;
  for (let step = 0; step < maxSteps; step++) {
    const names = last.actions ?? hello.actions ?? texts.slice(0, 2);
    const answer = await program.step(id, names[(seed + step * 7) % names.length]!);
    episode.push(answer);
    if (answer.done) break;
    last = answer;
  }
  return { id, episode };
}

const isDone = (episode: Episode): boolean => (episode.at(-1) as StepAnswer).done;

const comparable = (episode: Episode): string => JSON.stringify(episode.map(({ id: _, ...answer }) => answer));

function expectEqual(actual: string, expected: string, problem: string): void {
  if (actual !== expected) throw new Error(problem);
}
