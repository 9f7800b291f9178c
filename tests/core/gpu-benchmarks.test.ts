import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const scripts = join(import.meta.dirname, '../../benchmarks/gpu');
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A program that prints `lines` for the arguments that contain `pattern`, first match first. */
const program = (cases: [pattern: string, lines: string][]) =>
  `#!/bin/sh\ncase "$*" in\n${cases.map(([pattern, lines]) => `  ${pattern}) ${lines} ;;`).join('\n')}\nesac\n`;

/** Calls a function of checks.py. */
function check(name: string, ...values: unknown[]): unknown {
  const code = `import json, sys, checks; print(json.dumps(checks.${name}(*json.load(sys.stdin))))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', code], {
    cwd: scripts,
    input: JSON.stringify(values),
    encoding: 'utf8',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  if (stderr) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe.skipIf(!hasPython)('checks of GPU results', () => {
  const training = (exactness: string, loss: number, gradient_norm: number, refused_products?: string) => ({
    exactness,
    engine: { training: { loss, gradient_norm }, ...(refused_products && { refused_products }) },
  });
  const generation = (exactness: string, forward_gap: number) => ({
    exactness,
    engine: [{ generation: { sequences: 16, forward_gap } }],
  });

  test('exact mode requires equal log-probabilities, fast mode does not', () => {
    expect(check('speed', [generation('exact', 0), generation('fast', 0.01)], [])).toEqual([]);
    expect(check('speed', [generation('exact', 1e-7)], [])).toEqual([
      'generation of 16 sequences, exact: log-probabilities of rollout and update differ by 1e-07, expected 0 in exact mode',
    ]);
  });

  test('fast training differs from exact training by at most 1 %', () => {
    expect(check('speed', [], [training('fast', 1.005, 2.01), training('exact', 1, 2)])).toEqual([]);
    expect(check('speed', [], [training('fast', 1.011, 2.1), training('exact', 1, 2)])).toEqual([
      'training: loss is 1.011 in fast mode and 1 in exact mode, expected a difference of at most 1 %',
      'training: gradient_norm is 2.1 in fast mode and 2 in exact mode, expected a difference of at most 1 %',
    ]);
  });

  test('a gradient of 0 and refused products are problems', () => {
    expect(check('speed', [], [training('exact', 0, 0, 'cuBLASLt refused 3 of 9 large matrix products')])).toEqual([
      'training, exact: the gradient norm is 0, expected more than 0',
      'training, exact: cuBLASLt refused 3 of 9 large matrix products',
    ]);
    const run = { run: 'grpo', response_mean: 100, exactness: 'exact', logprob_gap_max: 0, gradient_norm: 0.5 };
    expect(check('iterations', [run])).toEqual([]);
    expect(check('iterations', [{ ...run, logprob_gap_max: null, gradient_norm: null }])).toHaveLength(2);
  });

  test('differences from transformers have limits', () => {
    const golden = (file: string, differences: object) => ({ file, precision: 'fp32', differences });
    expect(check('goldens', [golden('qwen2-tiny.json', { loss: 2e-6, weight_changes: 6e-4 })])).toEqual([]);
    expect(check('goldens', [golden('qwen2-tiny.json', { loss: 2e-5 })])).toEqual([
      'qwen2-tiny.json in fp32: the relative difference of loss is 2e-05, expected less than 1e-05',
    ]);
  });
});

describe.skipIf(!hasPython)('stages on a GPU machine', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'starpo-gpu-'));
    cpSync(scripts, folder, { recursive: true });
    for (const name of ['bin', 'configs', 'starter']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'build.json'), '{"commit": "abc"}');
    writeFileSync(join(folder, 'cpu-learning.json'), '{}');
    const run = { device: 'cuda', precision: 'fp32', exactness: 'exact', start: {}, rollout: {}, policy_loss: {} };
    writeFileSync(join(folder, 'configs/starter.json'), JSON.stringify({ ...run, evaluation: {} }));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function install(name: string, text: string) {
    writeFileSync(join(folder, 'bin', name), text);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  function runStages(stages: string, device = 'cpu') {
    const done = spawnSync(
      join(folder, 'run.sh'),
      [join(folder, 'results'), '--stages', stages, '--device', device, '--tiny'],
      { encoding: 'utf8', env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` } },
    );
    const stage = stages.split(' ').at(-1);
    return { status: done.status, result: JSON.parse(readFileSync(join(folder, `results/${stage}.json`), 'utf8')) };
  }

  test('learning starts again on a machine that has the results but not the run', () => {
    const stopped = (reason: string) =>
      `echo '{"type": "stopped", "reason": "${reason}", "iteration": 1}' >> "$2/events.jsonl"`;
    install('starpo-trainer', program([['train*', stopped('signal')]]));
    const first = runStages('learning');
    expect(first.status).toBe(3); // run again for the rest
    install('starpo-trainer', program([['train*', stopped('completed')]]));
    const resumed = join(folder, 'results/learning.json');
    rmSync(join(folder, 'work'), { recursive: true });
    const second = runStages('learning');
    expect(second.status).toBe(0);
    expect(second.result.folder).not.toBe(first.result.folder);
    expect(existsSync(join(second.result.folder, 'run.json'))).toBe(true);
    expect(JSON.parse(readFileSync(resumed, 'utf8'))).toMatchObject({ complete: true, end: { reason: 'completed' } });
  });

  test('each tool of compute-sanitizer checks each family of kernels, and an error fails the stage', () => {
    install('starpo-trainer', '#!/bin/sh\n');
    install(
      'compute-sanitizer',
      program([
        ['*racecheck*gemm*', 'echo "race in gemm_kernel"; exit 9'],
        ['*', ':'],
      ]),
    );
    const { status, result } = runStages('sanitizer', 'cuda:0');
    expect(status).toBe(1);
    expect(result.checked).toHaveLength(16);
    expect(result.failed).toEqual([{ tool: 'racecheck', family: 'gemm', status: 9, report: 'race in gemm_kernel\n' }]);
  });
});
