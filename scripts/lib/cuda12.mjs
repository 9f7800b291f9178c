import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cacheFolder, downloadPackages, extractPackage, machineMirror } from './debian-releases.mjs';
import { mustRun, root } from './process.mjs';
import { buildJobs } from './trainer-build.mjs';

export const cuda12Folder = join(root, 'native/build-cuda12');

const nvccProfile = `TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/../usr/lib/nvidia-cuda-toolkit/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
`;

/**
 * Arranges Debian's packages as a CUDA toolkit with bin, include and lib64, as CMake and nvcc expect.
 * @param {string} release @param {string} mirror
 */
async function cudaToolkit(release, mirror) {
  const files = await downloadPackages({
    release,
    components: ['main', 'contrib', 'non-free'],
    packages: ['nvidia-cuda-toolkit', 'libnvvm4', 'libcudart12', 'nvidia-cuda-dev', 'libcu++-dev'],
    mirror,
  });
  const [compiler, optimizer, runtime, ...headers] = /** @type {[string, string, string, ...string[]]} */ (files);
  const folder = join(cacheFolder, basename(compiler, '.deb'));
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  await extractPackage(compiler, part, ['./usr/bin/*', './usr/lib/nvidia-cuda-toolkit/*']);
  for (const file of [optimizer, runtime]) await extractPackage(file, part, ['./usr/lib/*']);
  for (const file of headers)
    await extractPackage(file, part, [
      './usr/include/*',
      ...(file.includes('cuda-dev') ? ['./usr/lib/*/libcuda[rd]*'] : []),
    ]);
  const bin = join(part, 'toolkit/bin');
  mkdirSync(bin, { recursive: true });
  // Debian's nvcc is a script with absolute paths, so link its programs here.
  for (const name of ['cudafe++', 'fatbinary', 'nvlink', 'ptxas'])
    symlinkSync(`../../usr/bin/${name}`, join(bin, name));
  for (const name of ['cicc', 'crt']) symlinkSync(`../../usr/lib/nvidia-cuda-toolkit/bin/${name}`, join(bin, name));
  // nvcc searches its own folder, so copy it: a link would resolve elsewhere.
  copyFileSync(join(part, 'usr/lib/nvidia-cuda-toolkit/bin/nvcc'), join(bin, 'nvcc'));
  writeFileSync(join(bin, 'nvcc.profile'), nvccProfile);
  // CMake searches for libdevice here.
  symlinkSync('../usr/lib/nvidia-cuda-toolkit', join(part, 'toolkit/nvvm'));
  symlinkSync('../usr/include', join(part, 'toolkit/include'));
  symlinkSync('../usr/lib/x86_64-linux-gnu', join(part, 'toolkit/lib64'));
  renameSync(part, folder);
  return folder;
}

/**
 * Builds the trainer with Debian trixie's CUDA 12.4, whose binaries need driver 525 (CUDA 13 needs 580). Downloads 1 GB on first use. Returns the
 * trainer's path.
 * @param {{ release?: string, mirror?: string | undefined }} [options]
 */
export async function buildCuda12Trainer({ release = 'trixie', mirror = machineMirror() } = {}) {
  const folder = await cudaToolkit(release, mirror);
  const toolkit = join(folder, 'toolkit');
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu');
  const env = { ...process.env, LD_LIBRARY_PATH: libraries };
  await mustRun(
    'cmake',
    [
      ...['-S', join(root, 'native'), '-B', cuda12Folder, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'],
      ...['-DSTARPO_UNITY=ON', '-DSTARPO_CUDA=ON', `-DCMAKE_CUDA_COMPILER=${join(toolkit, 'bin/nvcc')}`],
      `-DCUDAToolkit_ROOT=${toolkit}`,
    ],
    { env },
  );
  await mustRun('ninja', ['-C', cuda12Folder, '-j', String(buildJobs()), 'starpo-trainer'], { env });
  return join(cuda12Folder, 'starpo-trainer');
}
