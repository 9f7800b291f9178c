/**
 * Measures trained and generated tokens per second for a starter-sized policy with two threads, per instruction set (medians).
 * Usage: npm run benchmark:engine -- [--repeats 5] [--threads 2] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from './machine.ts';

const { values } = parseArgs({
  options: {
    repeats: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
});
const build = join(import.meta.dirname, '../native/build');
execFileSync('ninja', ['-C', build, 'starpo-bench'], { stdio: 'ignore' });

function measure(isa: string) {
  const lines = Array.from({ length: Number(values.repeats) }, () =>
    JSON.parse(
      execFileSync(join(build, 'starpo-bench'), ['--threads', values.threads as string, '--isa', isa], {
        encoding: 'utf8',
      }),
    ),
  );
  const spread = (section: string) => {
    const sorted = lines.map((line) => line[section].tokens_per_second as number).sort((a, b) => a - b);
    return {
      median: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
      lowest: Math.round(sorted[0] ?? 0),
      highest: Math.round(sorted.at(-1) ?? 0),
    };
  };
  return {
    isa,
    threads: lines[0].threads,
    parameters: lines[0].parameters,
    gradient_norm: lines[0].training.gradient_norm,
    trained_tokens_per_second: spread('training'),
    generated_tokens_per_second: spread('generation'),
  };
}

const result = {
  command: `npm run benchmark:engine${commandArguments()}`,
  machine: machine(),
  results: ['avx512', 'avx2'].map(measure),
};
writeResult(result, values.out);
