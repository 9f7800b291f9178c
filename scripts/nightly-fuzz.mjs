// Fuzzes all parsers of untrusted input with libFuzzer under AddressSanitizer and UBSan. `npm test` only replays native/fuzz/corpora.
// Usage: npm run nightly:fuzz -- [--runs 1000000] [--target NAME ...] [--seed N] [--keep] [--out FILE]
//   --seed: libFuzzer seed; reproduces a run on the same checkout. Default: the current time.
//   --keep: replaces each corpus with up to 40 inputs that maximize total coverage.
//   --out: file for the results; entries of other targets are kept.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { machine } from '../benchmarks/machine.ts';
import { fail, findProgram, mustRun, root, run, SetupError } from './lib/process.mjs';

const corpora = join(root, 'native/fuzz/corpora');
const build = join(root, 'native/build-fuzz');
const mostInputs = 40;

/** Maximum input length in bytes per target: shorter for line protocols, whose cost grows with lines. @type {Record<string, number>} */
const longest = { 'control-lines': 1024, 'env-protocol': 1024, 'journal-tail': 2048 };
const longestOfOthers = 4096;

function findClang() {
  // Earlier versions can't compile the ranges of libstdc++ 12.
  const names = ['clang++', ...[19, 18, 17, 16].map((version) => `clang++-${version}`)];
  const found = names.find((name) => findProgram(name));
  if (found) return found;
  throw new SetupError(
    'Fuzzing needs clang and its libFuzzer.',
    'Debian 12 and Ubuntu 24.04: apt-get install clang-16 libclang-rt-16-dev',
  );
}

/** @param {string} target @param {{ runs: string, seed: string, keep: boolean }} options */
async function fuzz(target, { runs, seed, keep }) {
  const work = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'starpo-fuzz-'));
  const [grown, findings, least] = ['grown', 'findings', 'least'].map((name) => join(work, name));
  for (const folder of [grown, findings, least]) mkdirSync(/** @type {string} */ (folder));
  const program = join(build, `starpo-fuzz-${target}`);
  // ASan's default quarantine of freed memory costs a third of the time.
  const env = { ...process.env, TMPDIR: work, ASAN_OPTIONS: 'quarantine_size_mb=16' };
  const length = longest[target] ?? longestOfOthers;
  const limits = [`-runs=${runs}`, `-seed=${seed}`, `-max_len=${length}`, '-timeout=20', '-rss_limit_mb=3000'];
  const begin = performance.now();
  const { status, output } = await run(
    program,
    [...limits, `-artifact_prefix=${findings}/`, '-print_final_stats=1', `${grown}`, join(corpora, target)],
    { env },
  );
  const seconds = Math.round((performance.now() - begin) / 1000);
  const executions = Number(/number_of_executed_units: (\d+)/.exec(output)?.[1]);
  console.log(`${target}: ${executions} executions, ${status === 0 ? 'no findings' : 'one finding'}`);
  if (status !== 0) {
    throw new SetupError(
      `${target}: the input is in ${findings}.`,
      `Fix the parser and add the input to native/fuzz/corpora/${target} with a descriptive name.`,
      output,
    );
  }
  if (keep) {
    await mustRun(program, ['-set_cover_merge=1', '-use_counters=0', `${least}`, `${grown}`, join(corpora, target)], {
      env,
    });
    keepInputs(/** @type {string} */ (least), join(corpora, target));
  }
  rmSync(work, { recursive: true });
  return { executions, longest_input_bytes: length, seconds, seed: Number(seed) };
}

/** @param {string} file @param {string} target @param {object} result @param {object} conditions machine and source version */
function record(file, target, result, conditions) {
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).targets : {};
  const targets = { ...known, [target]: { ...result, ...conditions } };
  const sorted = Object.fromEntries(Object.entries(targets).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify({ command: 'npm run nightly:fuzz', targets: sorted }, null, 2)}\n`);
}

/** Keeps the first inputs written, which cover most. Named inputs are past findings and stay. @param {string} from @param {string} to */
function keepInputs(from, to) {
  const isHash = (/** @type {string} */ name) => /^[0-9a-f]{40}$/.test(name);
  for (const name of readdirSync(to).filter(isHash)) rmSync(join(to, name));
  const time = (/** @type {string} */ name) => statSync(join(from, name)).mtimeMs;
  const first = readdirSync(from).sort((a, b) => time(a) - time(b));
  for (const name of first.slice(0, mostInputs)) cpSync(join(from, name), join(to, name));
}

try {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '1000000' },
      target: { type: 'string', multiple: true },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
      keep: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const clang = findClang();
  const targets = values.target ?? readdirSync(corpora);
  await mustRun('cmake', [
    ...['-S', join(root, 'native'), '-B', build, '-G', 'Ninja', '-DSTARPO_FUZZ=ON', '-DSTARPO_UNITY=ON'],
    ...['-DCMAKE_BUILD_TYPE=Release', `-DCMAKE_CXX_COMPILER=${clang}`],
  ]);
  await mustRun('ninja', ['-C', build, ...targets.map((target) => `starpo-fuzz-${target}`)]);
  const conditions = {
    sanitizers: 'AddressSanitizer, UndefinedBehaviorSanitizer',
    compiler: clang,
    machine: machine(),
  };
  for (const target of targets) {
    const result = await fuzz(target, values);
    if (values.out) record(resolve(values.out), target, result, conditions);
  }
} catch (error) {
  fail(error);
}
