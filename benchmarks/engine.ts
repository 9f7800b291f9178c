/**
 * How fast is the engine? Trained and generated tokens a second of a starter-sized policy with two threads, by instruction set: medians over repeats.
 * Usage: npm run benchmark:engine -- [--repeats 5] [--threads 2] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine } from './machine.ts';

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
      execFileSync(join(build, 'starpo-bench'), [values.threads as string, isa], { encoding: 'utf8' }),
    ),
  );
  const spread = (name: string) => {
    const sorted = lines.map((line) => line[name].median as number).sort((a, b) => a - b);
    return { median: sorted[Math.floor(sorted.length / 2)], lowest: sorted[0], highest: sorted.at(-1) };
  };
  return {
    isa,
    threads: lines[0].threads,
    parameters: lines[0].parameters,
    gradient_norm: lines[0].gradient_norm,
    trained_tokens_per_second: spread('trained_tokens_per_second'),
    generated_tokens_per_second: spread('generated_tokens_per_second'),
  };
}

const result = {
  command: `npm run benchmark:engine -- ${commandArguments()}`,
  machine: machine(),
  results: ['avx512', 'avx2'].map(measure),
};
const text = `${JSON.stringify(result, null, 2)}\n`;
if (values.out) writeFileSync(resolve(values.out), text);
else console.log(text);
