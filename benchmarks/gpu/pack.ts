/**
 * Packs everything that the GPU benchmarks need on a machine without checkout or Node: both programs, scripts, goldens, the starter policy
 * and run configurations from the presets.
 * Usage: npm run benchmark:gpu -- FOLDER
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findPreset } from '../../core/presets/presets.ts';
import type { RunConfig } from '../../core/run-config/schema.ts';
import { applySettings, type Setting } from '../../core/run-config/settings.ts';
import { validateConfig } from '../../core/run-config/validate.ts';
import { machine } from '../machine.ts';

const root = join(import.meta.dirname, '../..');
const [target] = process.argv.slice(2);
if (!target) {
  console.error('Usage: npm run benchmark:gpu -- FOLDER');
  process.exit(1);
}
const folder = resolve(target);
const all = { 'filter.strategy': 'none', 'filter.keep': 1 };

/** Three variants of RAGEN's default, and the starter. Only the learning run evaluates. */
const runs: Record<string, [preset: string, set: Record<string, Setting>]> = {
  'ppo-25': ['qwen2.5-0.5b-sokoban-starpo-s', {}],
  'ppo-all': ['qwen2.5-0.5b-sokoban-starpo-s', all],
  grpo: ['qwen2.5-0.5b-sokoban-grpo-s', all],
  starter: ['starter-frozen-lake-starpo-s', { device: 'cuda' }],
};

function configOf(preset: string, set: Record<string, Setting>): RunConfig {
  return validateConfig(applySettings(findPreset(preset).config, set));
}

const build = join(root, 'native/build');
execFileSync('ninja', ['-C', build, 'starpo-trainer', 'starpo-bench'], { stdio: 'ignore' });
rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'configs'), { recursive: true });
for (const program of ['starpo-trainer', 'starpo-bench']) cpSync(join(build, program), join(folder, 'bin', program));
for (const script of ['run.sh', 'stages.py', 'checks.py', 'models.py', 'peers.py', 'tools.py'])
  cpSync(join(import.meta.dirname, script), join(folder, script));
cpSync(join(root, 'native/tests/goldens'), join(folder, 'goldens'), { recursive: true });
cpSync(join(root, 'resources/starter'), join(folder, 'starter'), { recursive: true });
cpSync(join(root, 'benchmarks/results/learning-starter-frozen-lake-starpo-s.json'), join(folder, 'cpu-learning.json'));
for (const [name, [preset, set]] of Object.entries(runs))
  writeFileSync(join(folder, 'configs', `${name}.json`), `${JSON.stringify(configOf(preset, set), null, 2)}\n`);
writeFileSync(join(folder, 'build.json'), `${JSON.stringify(machine(), null, 2)}\n`);
console.log(folder);
