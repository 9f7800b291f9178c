import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.mjs';

/**
 * What ptxas says of one kernel for one target.
 * @typedef {{ kernel: string, target: string, registers: number, spilledBytes: number, stackBytes: number, sharedBytes: number }} KernelUse
 */

/**
 * The reports that a build keeps beside the objects, of the sources that are there now. Undefined where a source has none.
 * @param {string} [build] its folder
 */
export function findReports(build = join(root, 'native/build')) {
  const objects = join(build, 'CMakeFiles/starpo-cuda.dir');
  const files = readdirSync(join(root, 'native/src/engine/cuda'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.cu'));
  const reports = sources.map((source) => join(objects, 'src/engine/cuda', `${source}.o.ptxas`));
  return reports.every((report) => existsSync(report)) ? reports : undefined;
}

/** @param {readonly string[]} reports @returns {KernelUse[]} sorted by kernel and target */
export function readReports(reports) {
  const text = reports.map((report) => readFileSync(report, 'utf8')).join('\n');
  const demangled = execFileSync('c++filt', { input: text, encoding: 'utf8', maxBuffer: 1 << 28 });
  const order = (/** @type {KernelUse} */ { kernel, target }) => `${kernel} ${target}`;
  return parseReport(demangled).sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** @param {string} text ptxas -v's, with names as in the source @returns {KernelUse[]} */
export function parseReport(text) {
  const number = (/** @type {string} */ part, /** @type {RegExp} */ pattern) =>
    Number(pattern.exec(part)?.[1] ?? 0);
  return text
    .split(/^ptxas info\s+: Compiling entry function /m)
    .slice(1)
    .map((part) => {
      const [, signature, target] = /^'(.*)' for '(\w+)'/.exec(part) ?? [];
      const registers = /Used (\d+) registers/.exec(part)?.[1];
      if (!signature || !target || !registers) throw new Error(`ptxas wrote what can't be read: ${part}`);
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

/** `void starpo::cuda::(anonymous namespace)::sum<starpo::cuda::Bf16, 64>(float*)` is `sum<Bf16, 64>`. @param {string} signature */
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
 * The cap of a kernel: its own, or that of all instances of its template.
 * @param {Record<string, number>} caps @param {string} kernel
 */
export function capOf(caps, kernel) {
  return caps[kernel] ?? caps[kernel.replace(/<.*/s, '')];
}
