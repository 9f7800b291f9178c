// Checks the CUDA engine's own cuBLASLt declarations against NVIDIA's header and library from Debian. Needs no GPU.
// Usage: npm run nightly:cublaslt -- [--release trixie] [--mirror URL] [--out FILE]      (downloads 1.1 GB on first use)
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { machine } from '../benchmarks/machine.ts';
import { cacheFolder, downloadPackages, extractPackage, machineMirror } from './lib/debian-releases.mjs';
import { fail, mustRun, root, SetupError } from './lib/process.mjs';

const build = join(root, 'native/build-cublaslt');

const hint = 'The failed static_assert or library call is named above. Fix native/src/engine/cuda/lt.';

try {
  const { values } = parseArgs({
    options: {
      release: { type: 'string', default: 'trixie' },
      mirror: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const files = await downloadPackages({
    release: values.release,
    components: ['main', 'contrib', 'non-free'],
    packages: ['libcublaslt12', 'nvidia-cuda-dev', 'libcu++-dev'],
    mirror: values.mirror ?? machineMirror(),
  });
  const folder = join(cacheFolder, basename(/** @type {string} */ (files[0]), '.deb'));
  if (!existsSync(folder)) {
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    const [library, ...headers] = files;
    await extractPackage(/** @type {string} */ (library), part, ['./usr/lib/*']);
    for (const file of headers) await extractPackage(file, part, ['./usr/include/*']);
    renameSync(part, folder);
  }
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu');
  const name = readdirSync(libraries).find((file) => /^libcublasLt\.so\.\d+$/.test(file));
  if (!name) throw new SetupError(`${folder} does not contain libcublasLt.`, 'Choose another --release.');
  await mustRun('cmake', [
    ...['-S', join(root, 'native'), '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'],
    ...['-DSTARPO_CUDA=OFF', `-DSTARPO_CUBLASLT_HEADERS=${join(folder, 'usr/include')}`],
  ]);
  await mustRun('ninja', ['-C', build, 'starpo-real-cublaslt'], { hint });
  const program = join(build, 'starpo-real-cublaslt');
  const checked = JSON.parse(await mustRun(program, [join(libraries, name)], { hint }));
  const result = { command: 'npm run nightly:cublaslt', machine: machine(), ...checked };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (values.out) writeFileSync(resolve(values.out), text);
  console.log(text);
} catch (error) {
  fail(error);
}
