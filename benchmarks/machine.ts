import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';

/** What a result must carry to be read later: where and of which source it was measured. */
export function machine() {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit:
      git('rev-parse', '--short', 'HEAD') +
      (git('status', '--porcelain', '--untracked-files=no') ? '-dirty' : ''),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}

/** What follows the name of the script in the command: what was asked for, less where the result went. */
export function commandArguments(): string {
  const given = process.argv.slice(2);
  const out = given.indexOf('--out');
  const kept = given.filter((_, index) => out < 0 || (index !== out && index !== out + 1));
  return ['', ...(kept.length > 0 ? ['--'] : []), ...kept].join(' ');
}

/** Into a file where one is named, else onto the screen. */
export function writeResult(result: object, file: string | undefined): void {
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (file) writeFileSync(resolve(file), text);
  else console.log(text);
}
