/**
 * Measures the memory that a checkpoint and a resume add to training. Random models of two shapes train one step on the CPU; the process's
 * peak (VmHWM) is read before and after the checkpoint, and after loading it in a new process.
 * Usage: npm run benchmark:checkpoint-memory -- [--shapes 0.1B,0.5B] [--trainer PATH] [--out FILE]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { commandArguments, compactJson, machine } from './machine.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    shapes: { type: 'string', default: '0.1B,0.5B' },
    trainer: { type: 'string', default: join(root, 'native/build/starpo-trainer') },
    out: { type: 'string' },
  },
});

/** Qwen2.5-0.5B's architecture, and an architecture with its vocabulary and 0.1 billion weights. */
const shapes: Record<string, object> = {
  '0.1B': {
    hidden_size: 512,
    intermediate_size: 2048,
    num_hidden_layers: 12,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    head_dim: 64,
  },
  '0.5B': {
    hidden_size: 896,
    intermediate_size: 4864,
    num_hidden_layers: 24,
    num_attention_heads: 14,
    num_key_value_heads: 2,
    head_dim: 64,
  },
};

function makeRun(folder: string, shape: object): string {
  const model = join(folder, 'model');
  const run = join(folder, 'run');
  for (const each of [model, run]) mkdirSync(each, { recursive: true });
  const starter = join(root, 'resources/starter');
  const config = JSON.parse(readFileSync(join(starter, 'config.json'), 'utf8'));
  writeFileSync(join(model, 'config.json'), JSON.stringify({ ...config, ...shape, vocab_size: 151_936 }));
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json'])
    copyFileSync(join(starter, file), join(model, file));
  const settings = JSON.parse(readFileSync(join(root, 'docs/formats/examples/run.json'), 'utf8'));
  Object.assign(settings.start, { model, weights: 'random', sha256: '' });
  Object.assign(settings.rollout, {
    groups: 1,
    group_size: 2,
    max_response_tokens: 4,
    context: 400,
    slots: 2,
  });
  Object.assign(settings.policy_loss, { mini_batch: 2 });
  Object.assign(settings.optimizer, { micro_batch_tokens: 400 });
  Object.assign(settings.evaluation, { every: 0, levels: 1 });
  Object.assign(settings.checkpoint, { every: 0, keep: 1 });
  Object.assign(settings, { iterations: 1, device: 'cpu', precision: 'fp32' });
  settings.filter.strategy = 'none';
  for (const environment of settings.environments) environment.max_turns = 1;
  writeFileSync(join(run, 'run.json'), JSON.stringify(settings));
  return run;
}

interface Event {
  type: string;
  name?: string;
  iteration?: number;
  total_bytes?: number;
  resume?: object | null;
}

function events(run: string): Event[] {
  const journal = join(run, 'events.jsonl');
  if (!existsSync(journal)) return [];
  return readFileSync(journal, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Trains until `ends` or the process's exit. Returns its peak and size at the first poll after `marks`, and its last peak. */
async function watch(run: string, marks: (event: Event) => boolean, ends: (event: Event) => boolean) {
  const before = events(run).length;
  const child = spawn(resolve(values.trainer), ['train', run], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  let marked: { peak: number; size: number } | undefined;
  let peak = 0;
  while (child.exitCode === null) {
    const status = existsSync(`/proc/${child.pid}/status`) ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
    const bytes = (name: string) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))?.[1] ?? 0) * 1024;
    peak = Math.max(peak, bytes('VmHWM'));
    const seen = events(run).slice(before);
    if (!marked && seen.some(marks)) marked = { peak: bytes('VmHWM'), size: bytes('VmRSS') };
    if (seen.some(ends)) {
      child.kill('SIGKILL');
      await exited;
      return { marked, peak };
    }
    await sleep(5);
  }
  if (child.exitCode !== 0) throw new Error(`the trainer exited with status ${child.exitCode}`);
  return { marked, peak };
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);

async function measure(name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-checkpoint-'));
  try {
    const run = makeRun(folder, shapes[name] ?? {});
    const never = () => false;
    const step = await watch(
      run,
      (event) => event.type === 'phase' && event.name === 'checkpoint' && event.iteration === 1,
      never,
    );
    const plan = events(run).find(({ type }) => type === 'memory_plan');
    const settings = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));
    writeFileSync(join(run, 'run.json'), JSON.stringify({ ...settings, iterations: 2 }));
    const loaded = (event: Event) => event.type === 'started';
    const resume = await watch(run, loaded, loaded);
    if (!step.marked || !resume.marked) throw new Error('the journal has no checkpoint or started event');
    return {
      planned: mebibytes(plan?.total_bytes ?? 0),
      afterStep: mebibytes(step.marked.peak),
      checkpointAdds: mebibytes(step.peak - step.marked.peak),
      afterResume: mebibytes(resume.marked.size),
      resumeAdds: mebibytes(resume.marked.peak - resume.marked.size),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const results: Record<string, object> = {};
for (const name of values.shapes.split(',')) results[name] = await measure(name);
const report = {
  command: `npm run benchmark:checkpoint-memory${commandArguments()}`,
  ...machine(),
  unit: 'MiB of resident memory',
  results,
};
console.log(compactJson(report));
if (values.out) writeFileSync(values.out, `${compactJson(report)}\n`);
