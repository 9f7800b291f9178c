import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';

/** Returns machine and source version, which every result includes. */
export function machine() {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit:
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '-dirty' : ''),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    ...gpus(),
  };
}

/** Returns the names of the GPUs, if the machine has NVIDIA's driver. */
function gpus(): { gpus?: string[] } {
  try {
    const query = ['--query-gpu=name', '--format=csv,noheader'];
    const output = execFileSync('nvidia-smi', query, { encoding: 'utf8', stdio: 'pipe' });
    return { gpus: output.trim().split('\n') };
  } catch {
    return {};
  }
}

/** Returns the command's arguments without --out. */
export function commandArguments(): string {
  const given = process.argv.slice(2);
  const out = given.indexOf('--out');
  const kept = given.filter((_, index) => out < 0 || (index !== out && index !== out + 1));
  return ['', ...(kept.length > 0 ? ['--'] : []), ...kept].join(' ');
}

/** Writes the result to the file, or to stdout without one. */
export function writeResult(result: object, file: string | undefined): void {
  const text = `${compactJson(result)}\n`;
  if (file) writeFileSync(resolve(file), text);
  else console.log(text);
}

const lineWidth = 120;

/** Formats JSON with each array and object on one line if it fits, else with one entry per line. */
export function compactJson(value: unknown, indent = '', before = 0): string {
  const spaced = JSON.stringify(value, null, 1);
  const line = spaced
    .replaceAll(/\[\n */g, '[')
    .replaceAll(/\n *\]/g, ']')
    .replaceAll(/\n */g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + before + line.length <= lineWidth) return line;
  const inner = `${indent}  `;
  const entries = Array.isArray(value)
    ? value.map((each) => compactJson(each, inner))
    : Object.entries(value).map(([key, each]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + compactJson(each, inner, name.length);
      });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${entries.map((entry) => inner + entry).join(',\n')}\n${indent}${close}`;
}
