import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.mjs';

/**
 * ptxas's resource usage for one kernel and target.
 * @typedef {{ kernel: string, target: string, registers: number, spilledBytes: number, stackBytes: number, sharedBytes: number }} KernelUse
 */

/**
 * Returns the ptxas reports of all CUDA files, or undefined if nvcc hasn't compiled all of them.
 * @param {string} [build] the build folder
 */
export function findReports(build = join(root, 'native/build')) {
  /** @type {{ command: string }[]} */
  const commands = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8'));
  const objects = commands.flatMap(({ command }) => / -o (\S+\.cu\.o)\b/.exec(command)?.[1] ?? []);
  const reports = objects.map((object) => join(build, `${object}.ptxas`));
  return reports.length > 0 && reports.every((report) => existsSync(report)) ? reports : undefined;
}

/** @param {readonly string[]} reports @returns {KernelUse[]} sorted by kernel and target */
export function readReports(reports) {
  const text = reports.map((report) => readFileSync(report, 'utf8')).join('\n');
  const demangled = execFileSync('c++filt', { input: text, encoding: 'utf8', maxBuffer: 1 << 28 });
  const order = (/** @type {KernelUse} */ { kernel, target }) => `${kernel} ${target}`;
  return parseReport(demangled).sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** @param {string} text demangled output of ptxas -v @returns {KernelUse[]} */
export function parseReport(text) {
  const number = (/** @type {string} */ part, /** @type {RegExp} */ pattern) => Number(pattern.exec(part)?.[1] ?? 0);
  return text
    .split(/^ptxas info\s+: Compiling entry function /m)
    .slice(1)
    .map((part) => {
      const [, signature, target] = /^'(.*)' for '(\w+)'/.exec(part) ?? [];
      const registers = /Used (\d+) registers/.exec(part)?.[1];
      if (!signature || !target || !registers) throw new Error(`Unexpected ptxas output: ${part}`);
      return {
        kernel: shortName(signature),
        target,
        registers: Number(registers),
        spilledBytes: number(part, /(\d+) bytes spill stores/) + number(part, /(\d+) bytes spill loads/),
        stackBytes: number(part, /(\d+) bytes stack frame/),
        sharedBytes: number(part, /(\d+) bytes smem/),
      };
    });
}

/** Shortens `void starpo::cuda::(anonymous namespace)::sum<starpo::cuda::Bf16, 64>(float*)` to `sum<Bf16, 64>`. @param {string} signature */
export function shortName(signature) {
  const name = signature.replace(/^void /, '').replaceAll(/\(anonymous namespace\)::|starpo::|cuda::/g, '');
  let depth = 0;
  for (let i = 0; i < name.length; i += 1) {
    if (name[i] === '<') depth += 1;
    if (name[i] === '>') depth -= 1;
    if (name[i] === '(' && depth === 0) return name.slice(0, i);
  }
  return name;
}

/**
 * Returns the register cap of a kernel or its template.
 * @param {Record<string, number>} caps @param {string} kernel
 */
export function capOf(caps, kernel) {
  return caps[kernel] ?? caps[kernel.replace(/<.*/s, '')];
}
