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
/** Chromium without windows: for the same pages a third less of the processor's time than the whole browser. */
export const testPackages = ['chromium-headless-shell'];

/**
 * What to do about missing packages. Pure, so that every case can be tested.
 * @param {{ missing: string[], root: boolean, sudo: boolean }} situation sudo: whether it works without a password
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

/** Which of the packages `dpkg-query` doesn't call installed. @param {string[]} wanted @param {string} listing */
export function missingPackages(wanted, listing) {
  const installed = new Set(
    listing
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([, status]) => status === 'installed')
      .map(([name]) => name),
  );
  return wanted.filter((name) => !installed.has(name));
}

/**
 * Installs what is missing. Elsewhere than on Debian and its relatives it only checks that the tools are there.
 * @param {string[]} wanted
 * @returns {Promise<boolean>} whether anything was done
 */
export async function installPackages(wanted) {
  if (!findProgram('dpkg-query')) {
    requireTools(['cmake', 'ninja', 'g++'], wanted);
    return false;
  }
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
  const listing = await run('dpkg-query', ['-W', '-f=${Package} ${db:Status-Status}\\n', ...wanted]);
  const missing = missingPackages(wanted, listing.output);
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
  const waitForOthers = ['-o', 'DPkg::Lock::Timeout=300'];
  for (const step of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const [program, ...args] = [...plan.prefix, 'apt-get', ...waitForOthers, ...step];
    const result = await run(/** @type {string} */ (program), args, { env });
    if (result.status !== 0) {
      throw new SetupError(
        `apt-get ${step[0]} failed.`,
        `See its messages above; the packages wanted are: ${missing.join(' ')}.`,
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
    `This system has no apt-get. Install what Debian calls: ${packages.join(', ')}.`,
  );
}
