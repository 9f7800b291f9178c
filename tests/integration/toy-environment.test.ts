import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thorough } from '../thorough.ts';
import { root } from './trainer-process.ts';

/** Patch that adds an environment to a copy of the checkout: three folders and a registration for each. */
const patch = join(root, 'tests/patches/toy-environment.patch');
const build = join(root, 'native/build');
const copied = [
  'core',
  'renderer',
  'electron',
  'native/src',
  'package.json',
  'tsconfig*',
  '*.config.ts',
  'docs/formats/examples',
];

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'starpo-toy-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...copied];
  for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('git', ['apply', patch], { cwd: copy });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('a new environment changes only its folders and the registries', () => {
  const files = [...readFileSync(patch, 'utf8').matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, file]) => file!);
  const folders = /^(native\/src\/env|core\/environments|renderer\/environments)\/corridor[./]/;
  expect(files.filter((file) => !folders.test(file))).toEqual([
    'core/environments/registry.ts',
    'native/src/env/registry.cpp',
    'renderer/environments/registry.ts',
  ]);
});

test('core replays its episodes and describes its settings, and the pages are built with its board', {
  timeout: 120_000,
}, () => {
  const script = `
    import { readFileSync } from 'node:fs';
    import { settingFacts } from './core/facts/setting-facts.ts';
    import { findEnvironment } from './core/environments/registry.ts';
    import { toReplay } from './core/environments/replay.ts';
    import { episode } from './core/run-directory/episode.ts';
    const recorded = JSON.parse(readFileSync('docs/formats/examples/episode.json', 'utf8'));
    const replay = toReplay(episode.parse({ ...recorded, type: 'corridor' }));
    console.log(JSON.stringify({ preset: findEnvironment('corridor').preset.config, type: replay.type, frames: replay.frames.length, unit: settingFacts('environments.0.config.length', 'corridor').unit }));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: copy });
  expect(JSON.parse(output.toString())).toMatchObject({
    preset: { length: 6 },
    type: 'corridor',
    unit: 'cells',
  });
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: copy, stdio: 'pipe' });
  // The types of all pages take twice as long.
  const files = ['core', 'renderer'].map((layer) => `${layer}/environments/registry.ts`);
  const registries = { extends: './tsconfig.renderer.json', include: [], files };
  writeFileSync(join(copy, 'tsconfig.registries.json'), JSON.stringify(registries));
  const project = thorough ? 'tsconfig.renderer.json' : 'tsconfig.registries.json';
  run('node_modules/typescript/bin/tsc', '--singleThreaded', '--noEmit', '--project', project);
  const build = `
    import { build } from 'vite';
    const { renderer } = (await import(process.cwd() + '/electron.vite.config.ts')).default;
    await build({ ...renderer, configFile: false, base: './', build: { ...renderer.build, minify: false } });
  `;
  run('--input-type=module', '--eval', build);
  const built = readFileSync(join(copy, 'out/renderer/index.html'), 'utf8');
  const [, bundle] = /src="\.\/(assets\/[^"]+\.js)"/.exec(built)!;
  expect(readFileSync(join(copy, 'out/renderer', bundle!), 'utf8')).toContain('Walk to the end.');
});

describe('a trainer linked with the environment', { timeout: 600_000 }, () => {
  let trainer: string;
  /** The changed files are compiled like main.cpp and linked before the library with all other code. */
  beforeAll(() => {
    const commands: { file: string; command: string }[] = JSON.parse(
      readFileSync(join(build, 'compile_commands.json'), 'utf8'),
    );
    const { command } = commands.find(({ file }) => file.endsWith('/src/main.cpp'))!;
    const flags = command.replace(/ -o \S+ -c \S+$/, '').replaceAll(join(root, 'native/src'), join(copy, 'native/src'));
    const objects = ['corridor/corridor', 'registry'].map((name) => {
      const object = join(copy, `${name.replace('/', '-')}.o`);
      const source = join(copy, `native/src/env/${name}.cpp`);
      execFileSync('sh', ['-c', `${flags} -o ${object} -c ${source}`], { cwd: build });
      return object;
    });
    trainer = join(copy, 'starpo-trainer');
    const link = execFileSync('ninja', ['-t', 'commands', 'starpo-trainer'], { cwd: build, encoding: 'utf8' })
      .trim()
      .split('\n')
      .at(-1)!;
    const ours = link.replace(
      '-o starpo-trainer',
      `-o ${trainer} -Wl,--allow-multiple-definition ${objects.join(' ')}`,
    );
    execFileSync('sh', ['-c', ours], { cwd: build });
  });

  test('describes its configuration', () => {
    const schema = JSON.parse(execFileSync(trainer, ['schema'], { encoding: 'utf8' }));
    expect(schema.environments.corridor).toMatchObject([{ path: 'length', minimum: 2, maximum: 32 }]);
  });

  test('plays the environment', () => {
    const requests = [
      '{"reset": 3}',
      '{"step": "Left"}',
      '{"step": "right"}',
      '{"step": "Right"}',
      '{"step": "Right"}',
    ];
    const output = execFileSync(trainer, ['env', 'corridor', '--config', '{"length": 6}'], {
      input: `${requests.join('\n')}\n`,
      encoding: 'utf8',
    });
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ observation }) => observation)).toEqual(['___P_G', '__P__G', '___P_G', '____PG', '_____√']);
    expect(answers.map(({ info }) => info.effective)).toEqual([undefined, true, true, true, true]);
    expect(answers.at(-1)).toMatchObject({ reward: 1, done: true, info: { success: true } });
  });
});
