import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extractAll, listPackage } from '@electron/asar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import product from '../../package.json' with { type: 'json' };
import { makeDeb } from '../../scripts/lib/deb.mjs';
import { root, run } from '../../scripts/lib/process.mjs';
import { configuredFuses, fusesOf, makeStubElectron, packageApp } from './package-app.ts';
import { type Desktop, type Shell, standInDesktop } from './shell.ts';
import { endTrainers } from './studio.ts';

const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');

let folder: string;
let unpacked: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'starpo-package-'));
  const electronDist = makeStubElectron(join(folder, 'electron'));
  unpacked = await packageApp(join(folder, 'dist'), { electronDist, trainer });
}, 200_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

test('the packaged app contains the required files and no others', () => {
  const resources = join(unpacked, 'resources');
  expect(statSync(join(unpacked, 'starpo-studio')).mode & 0o111).toBeTruthy();
  expect(statSync(join(resources, 'bin/starpo-trainer')).mode & 0o111).toBeTruthy();
  for (const file of ['starter/model.safetensors', 'starter/tokenizer.json', 'sample.starpo.zip', 'icons/32x32.png'])
    expect(existsSync(join(resources, file)), file).toBe(true);
  const inside = listPackage(join(resources, 'app.asar'), { isPack: false });
  const needed = [
    '/package.json',
    ...['main', 'writer-worker', 'reader-worker', 'export-worker'].map((name) => `/out/main/${name}.cjs`),
    '/out/preload/preload.cjs',
    '/out/renderer/index.html',
    '/node_modules/better-sqlite3/prebuilds/linux-x64.node',
    '/node_modules/onnxruntime-node/package.json',
  ];
  // npm ignores nested packages if node_modules is a link to another checkout.
  if (!lstatSync(join(root, 'node_modules')).isSymbolicLink())
    needed.push('/node_modules/onnxruntime-common/package.json');
  expect(inside).toEqual(expect.arrayContaining(needed));
  const foreign =
    /\.(map|ts|tsx)$|^\/(core|renderer|electron|tests|native|scripts|docs|benchmarks)\b|node-linux|darwin|arm64\.node/;
  expect(inside.filter((path) => foreign.test(path) && !path.startsWith('/node_modules/better-sqlite3/lib'))).toEqual(
    [],
  );
  expect(existsSync(join(unpacked, 'locales/de.pak'))).toBe(false);
});

test('the packaged command line runs from any folder with its own Node, trainer and web app', async () => {
  const deb = join(folder, 'bin');
  mkdirSync(deb);
  symlinkSync(join(unpacked, 'resources/bin/starpo'), join(deb, 'starpo'));
  const home = join(folder, 'cli-home');
  // Neither Node nor another `starpo` is on this PATH.
  const env = { HOME: folder, STARPO_HOME: home, PATH: `${deb}:/usr/bin:/bin` };
  const starpo = (...args: string[]) => run(join(deb, 'starpo'), args, { cwd: folder, env });
  expect(await starpo('--version')).toEqual({ status: 0, output: `${product.version}\n` });
  const trained = await starpo('train', 'starter-bandit', '--set', 'iterations=1', '--set', 'rollout.groups=1');
  expect(trained).toMatchObject({ status: 0, output: expect.stringMatching(/watch it at http[\s\S]*completed/) });
  const unlinked = await run(join(unpacked, 'resources/bin/starpo'), ['runs', '--home', join(folder, 'none')], {
    env: { ...env, PATH: '/usr/bin:/bin' },
  });
  expect(unlinked.output).toContain(`\`${join(unpacked, 'resources/bin/starpo')} train starter-frozen-lake\``);
});

test('the packaged client of OpenEnv runs from outside the archive, through a link', async () => {
  const link = join(folder, 'starpo-openenv');
  symlinkSync(join(unpacked, 'resources/programs/starpo-openenv'), link);
  const { status, output } = await run(link, [], { cwd: folder, env: { PATH: '/usr/bin:/bin' } });
  expect(output).toContain('usage: starpo-openenv http://HOST:PORT');
  expect(status).toBe(1);
});

test('the fuses match their configuration', () => {
  const fuses = fusesOf(join(unpacked, 'starpo-studio'));
  expect(fuses).toEqual(configuredFuses());
  expect(fuses).toMatchObject({ runAsNode: false, onlyLoadAppFromAsar: true });
});

test('the Debian package, installed into a folder, opens and trains with its own trainer', async () => {
  const deb = await makeDeb(unpacked, join(folder, 'dist'), 'none');
  const installed = join(folder, 'installed');
  expect((await run('dpkg-deb', ['-x', deb, installed])).status).toBe(0);
  const { output } = await run('dpkg-deb', ['-f', deb, 'Package', 'Architecture', 'Depends']);
  expect(readlinkSync(join(installed, 'usr/bin/starpo'))).toBe('/opt/starpo-studio/resources/bin/starpo');
  expect(readFileSync(join(installed, 'usr/share/bash-completion/completions/starpo'), 'utf8')).toContain(
    'complete -o default -F _starpo starpo',
  );
  expect(readFileSync(join(installed, 'usr/share/zsh/vendor-completions/_starpo'), 'utf8')).toMatch(/^#compdef starpo/);
  expect(output).toMatch(/Package: starpo-studio\nArchitecture: amd64\nDepends: .*libgtk-3-0/);
  const entry = readFileSync(join(installed, 'usr/share/applications/starpo-studio.desktop'), 'utf8');
  expect(entry).toContain('MimeType=x-scheme-handler/starpo;');
  expect(existsSync(join(installed, 'usr/share/icons/hicolor/256x256/apps/starpo-studio.png'))).toBe(true);

  const resources = join(installed, 'opt/starpo-studio/resources');
  // Plain Node can't read asar archives.
  extractAll(join(resources, 'app.asar'), join(folder, 'app'));
  const home = join(folder, 'home');
  let desktop: Desktop | undefined;
  let shell: Shell | undefined;
  try {
    desktop = await standInDesktop(join(folder, 'app'));
    const { STARPO_TRAINER: _, ...environment } = process.env as Record<string, string>;
    shell = await desktop.open(home, { ...environment, STARPO_TRAINER: '', STAND_IN_RESOURCES: resources });
    const { page, act, ended } = shell;
    page.setDefaultTimeout(120_000);
    await page
      .getByRole('button', { name: /^Start FrozenLake/ })
      .first()
      .click();
    await page.getByRole('heading', { name: /^FrozenLake [0-9a-f]{4}/ }).waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    act({ second: ['', 'starpo://system'] });
    await page.getByText(join(resources, 'bin/starpo-trainer')).first().waitFor();
    act({ message: 1, close: true });
    expect(await ended).toBe(0);
    const [journal] = globSync(join(home, 'runs/*/events.jsonl'));
    expect(readFileSync(journal!, 'utf8')).toMatch(/"type":"stopped"/);
  } finally {
    await shell?.close();
    await desktop?.close();
    endTrainers(home);
  }
});
