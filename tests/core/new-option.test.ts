import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './fixtures/world.ts';

/** Patch that adds an option to run.json. scripts/nightly-new-option.mjs builds it. */
const patch = join(root, 'tests/patches/new-option.patch');
const files = readFileSync(patch, 'utf8').match(/(?<=^\+\+\+ b\/).+$/gm)!;
const copy = mkdtempSync(join(tmpdir(), 'starpo-option-'));

beforeAll(() => {
  for (const file of [...files, 'core', 'docs/formats', 'package.json'])
    cpSync(join(root, file), join(copy, file), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('git', ['apply', patch], { cwd: copy, stdio: 'pipe' });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('a new option changes only its description, its use and the table of options', () => {
  const roleOf = (file: string) => (/settings\.(h|cpp)$/.test(file) ? `description in ${dirname(file)}` : file);
  expect([...new Set(files.map(roleOf))].sort()).toEqual([
    'core/run-config/options.json',
    'description in native/src/config',
    'native/src/train/run/storage.cpp',
  ]);
});

test('existing runs and presets get its default', () => {
  const script = `
    const { readFileSync } = await import('node:fs');
    const { configVersion, upgradeConfig } = await import('${join(copy, 'core/run-config/upgrade.ts')}');
    const { baseConfig } = await import('${join(copy, 'core/presets/base.ts')}');
    const { config } = upgradeConfig(JSON.parse(readFileSync('docs/formats/examples/run.json', 'utf8')));
    console.log(JSON.stringify([configVersion, config.version, config.rollout_files, baseConfig.rollout_files]));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: copy,
    encoding: 'utf8',
  });
  const [newest, version, ofRun, ofPresets] = JSON.parse(output);
  expect(version).toBe(newest);
  expect(ofRun).toMatchObject({ keep_first: 0 });
  expect(ofPresets).toMatchObject({ keep_first: 0 });
});
