import { Failure } from '../contract/failure.ts';

/** Reads the trainer's last error from its stderr: three lines, `error: ...`, `  code: ...`, `  hint: ...`. Returns null if there is none. */
export function parseTrainerError(text: string): Failure | null {
  const at = text.lastIndexOf('error: ');
  if (at < 0) return null;
  const [first = '', ...rest] = text.slice(at).split('\n');
  const field = (name: string) =>
    rest
      .find((line) => line.trimStart().startsWith(`${name}: `))
      ?.trim()
      .slice(name.length + 2);
  const hint = field('hint') ?? 'See the run log for details.';
  return new Failure(field('code') ?? 'trainer_failed', first.slice('error: '.length).trim(), hint);
}
