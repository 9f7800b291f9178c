/**
 * Compares the engine with PyTorch on a CPU: one optimizer step on a mini-batch, and batched generation, for a starter-shaped policy.
 * It first checks that both compute the same, then alternates.
 * PyTorch comes from Debian unstable in a folder (needs root), or from another Python.
 * Usage: npm run benchmark:cpu -- [--repeats 5] [--threads 2] [--clock wall|processor] [--python FILE] [--fresh] [--mirror URL] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { inPeers, preparePeers } from '../peers.ts';

interface Measured {
  isa: string;
  version?: string;
  training: {
    logprobs: number[];
    loss: number;
    loss_after: number;
    gradient_norm: number;
    tokens_per_second: number;
    seconds?: object;
  };
  generation: { forward_gap: number; tokens_per_second: number };
}

const { values } = parseArgs({
  options: {
    repeats: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    clock: { type: 'string', default: 'wall' },
    python: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    mirror: { type: 'string' },
    out: { type: 'string' },
  },
});
const threads = values.threads as string;
const build = join(import.meta.dirname, '../../native/build');
const bench = join(build, 'starpo-bench');
const folder = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const shared = ['--threads', threads, '--clock', values.clock as string];

/** OpenBLAS doesn't detect newer CPUs, so PyTorch uses the fastest core type. */
const coreTypes = ['SkylakeX', 'SapphireRapids', 'Haswell'];
const openmpBlas = '/usr/lib/x86_64-linux-gnu/openblas-openmp';

function ours(precision: string): Measured {
  return JSON.parse(execFileSync(bench, [...shared, '--precision', precision], { encoding: 'utf8' }));
}

function pyTorch(precision: string, coreType: string, extra: string[] = []): Measured {
  const script = join(import.meta.dirname, 'pytorch.py');
  const settings = [
    `OPENBLAS_CORETYPE=${coreType}`,
    `OMP_NUM_THREADS=${threads}`,
    'ATEN_CPU_CAPABILITY=avx512',
    `LD_LIBRARY_PATH=${openmpBlas}`,
    'PYTHONDONTWRITEBYTECODE=1',
  ];
  const python = values.python ?? 'python3';
  const command = ['env', ...settings, python, script, folder, ...shared, '--precision', precision, ...extra];
  const [program, args] = values.python ? ['env', command.slice(1)] : inPeers([import.meta.dirname, folder], command);
  const output = execFileSync(program as string, args as string[], { encoding: 'utf8' });
  return JSON.parse(output);
}

/** Checks that both have the same log-probabilities, loss and gradient, and that each sampler agrees with its own training pass. */
function requireSameResults(engine: Measured, peer: Measured) {
  const gap = Math.max(
    ...engine.training.logprobs.map((value, i) => Math.abs(value - (peer.training.logprobs[i] as number))),
  );
  const relative = (name: 'loss' | 'gradient_norm') =>
    Math.abs(engine.training[name] - peer.training[name]) / Math.abs(peer.training[name]);
  const agreement = {
    largest_logprob_difference: gap,
    relative_loss_difference: relative('loss'),
    relative_gradient_norm_difference: relative('gradient_norm'),
    engine_sampler_difference: engine.generation.forward_gap,
    pytorch_sampler_difference: peer.generation.forward_gap,
  };
  if (!Object.values(agreement).every((difference) => difference < 1e-3)) {
    console.error('Engine and PyTorch disagree:', agreement);
    process.exit(1);
  }
  return agreement;
}

function spread(rates: number[]) {
  const sorted = rates.map(Math.round).sort((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] as number,
    lowest: sorted[0],
    highest: sorted.at(-1),
  };
}

const summary = (runs: Measured[]) => ({
  isa: runs[0]?.isa,
  trained_tokens_per_second: spread(runs.map((run) => run.training.tokens_per_second)),
  generated_tokens_per_second: spread(runs.map((run) => run.generation.tokens_per_second)),
});

if (!values.python) await preparePeers(values);
execFileSync('ninja', ['-C', build, 'starpo-bench'], { stdio: 'ignore' });
try {
  execFileSync(bench, ['--write', folder]);
  const tuning = coreTypes.map((coreType) => ({
    coreType,
    run: pyTorch('fp32', coreType, ['--steps', '1']),
  }));
  const speed = (run: Measured) => run.training.tokens_per_second * run.generation.tokens_per_second;
  const best = tuning.reduce((a, b) => (speed(b.run) > speed(a.run) ? b : a)).coreType;

  const runs: Record<string, Measured[]> = {};
  const measure = (name: string, run: Measured) => {
    runs[name] = [...(runs[name] ?? []), run];
  };
  const load = [loadavg()[0]];
  const bf16 = execFileSync(bench, ['--bf16-kernels'], { encoding: 'utf8' }).trim();
  const precisions = bf16 === 'none' ? ['fp32'] : ['fp32', 'bf16'];
  for (let repeat = 0; repeat < Number(values.repeats); repeat++)
    for (const precision of precisions) {
      measure(`engine_${precision}`, ours(precision));
      measure(`pytorch_${precision}`, pyTorch(precision, best));
    }
  load.push(loadavg()[0]);
  const [engine, peer] = [runs.engine_fp32?.[0] as Measured, runs.pytorch_fp32?.[0] as Measured];
  const agreement = requireSameResults(engine, peer);
  const results = Object.fromEntries(
    Object.entries(runs).flatMap(([name, list]) => (list.length ? [[name, summary(list)]] : [])),
  );
  const ratio = (precision: string, name: 'trained_tokens_per_second' | 'generated_tokens_per_second') =>
    Number(
      (
        (results[`engine_${precision}`]?.[name].median ?? 0) / (results[`pytorch_${precision}`]?.[name].median ?? 1)
      ).toFixed(2),
    );
  const result = {
    command: `npm run benchmark:cpu${commandArguments()}`,
    machine: machine(),
    threads: Number(threads),
    clock: values.clock,
    pytorch: { version: peer.version, openblas_core_type: best },
    load_average: { before: load[0], after: load[1] },
    ratios: Object.fromEntries(
      precisions.map((precision) => [
        precision,
        {
          training: ratio(precision, 'trained_tokens_per_second'),
          generation: ratio(precision, 'generated_tokens_per_second'),
        },
      ]),
    ),
    results,
    agreement,
    training: {
      gradient_norm: engine.training.gradient_norm,
      loss: engine.training.loss,
      loss_after: engine.training.loss_after,
    },
    engine_seconds_of_a_training_step: engine.training.seconds,
  };
  writeResult(result, values.out);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
