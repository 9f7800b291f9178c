import { findProgram, run, SetupError } from './process.mjs';

export const buildPackages = [
  'cmake',
  'doctest-dev',
  'g++',
  'libcli11-dev',
  'libpcre2-dev',
  'libutf8proc-dev',
  'libzstd-dev',
  'ninja-build',
  'nlohmann-json3-dev',
];
/** For the examples of environments. */
export const testPackages = ['python3'];
/** For the tests on a Slurm cluster of simulated nodes, which only root can run. */
export const clusterPackages = ['munge', 'slurm-client', 'slurmctld', 'slurmd'];
/** Headless Chromium takes a third less processor time than the full browser. */
export const browserPackage = 'chromium-headless-shell';
/** Returns the Chromium for tests, benchmarks and screenshots. */
export const chromiumPath = () => process.env.CHROMIUM_PATH ?? `/usr/bin/${browserPackage}`;

/**
 * Decides how to install missing packages.
 * @param {{ missing: string[], root: boolean, sudo: boolean }} situation sudo: whether sudo works without a password
 * @returns {{ action: 'none' } | { action: 'install', prefix: string[] } | { action: 'ask', command: string }}
 */
export function planInstall({ missing, root, sudo }) {
  if (missing.length === 0) return { action: 'none' };
  if (root) return { action: 'install', prefix: [] };
  if (sudo) return { action: 'install', prefix: ['sudo', '-n'] };
  const names = missing.join(' ');
  return {
    action: 'ask',
    command: `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names}`,
  };
}

/** Returns the packages that `dpkg-query`'s listing doesn't report as installed. @param {string[]} required @param {string} listing */
export function missingPackages(required, listing) {
  const installed = new Set(
    listing
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([, status]) => status === 'installed')
      .map(([name]) => name),
  );
  return required.filter((name) => !installed.has(name));
}

/**
 * Installs missing packages. Without dpkg it only checks that the tools exist.
 * @param {string[]} required
 * @returns {Promise<boolean>} whether it installed anything
 */
export async function installPackages(required) {
  if (!findProgram('dpkg-query')) {
    requireTools(['cmake', 'ninja', 'g++'], required);
    return false;
  }
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
  const listing = await run('dpkg-query', ['-W', '-f=${Package} ${db:Status-Status}\\n', ...required]);
  const missing = missingPackages(required, listing.output);
  const root = process.getuid?.() === 0;
  const sudo = missing.length > 0 && !root && (await run('sudo', ['-n', 'true'])).status === 0;
  const plan = planInstall({ missing, root, sudo });
  if (plan.action === 'none') return false;
  if (plan.action === 'ask') {
    throw new SetupError(
      `These packages are missing: ${missing.join(', ')}.`,
      `Run this once, then try again:\n\n    ${plan.command}\n`,
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const lockTimeout = ['-o', 'DPkg::Lock::Timeout=300'];
  for (const step of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const [program, ...args] = [...plan.prefix, 'apt-get', ...lockTimeout, ...step];
    const result = await run(/** @type {string} */ (program), args, { env });
    if (result.status !== 0) {
      throw new SetupError(
        `apt-get ${step[0]} failed.`,
        `See its messages above. Required packages: ${missing.join(' ')}.`,
        result.output,
      );
    }
  }
  return true;
}

/** @param {string[]} tools @param {string[]} packages */
function requireTools(tools, packages) {
  const missing = tools.filter((tool) => !findProgram(tool));
  if (missing.length === 0) return;
  throw new SetupError(
    `These tools are missing: ${missing.join(', ')}.`,
    `This system has no apt-get. Install its equivalents of these Debian packages: ${packages.join(', ')}.`,
  );
}
