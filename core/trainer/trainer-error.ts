import { Failure } from '../contract/failure.ts';

/** Reads the trainer's last error from its stderr: three lines, `error: ...`, `  code: ...`, `  hint: ...`. Null where there is none. */
export function parseTrainerError(text: string): Failure | null {
  const at = text.lastIndexOf('error: ');
  if (at < 0) return null;
  const [first = '', ...rest] = text.slice(at).split('\n');
  const field = (name: string) =>
    rest
      .find((line) => line.trimStart().startsWith(`${name}: `))
      ?.trim()
      .slice(name.length + 2);
  const hint = field('hint') ?? 'The log of the run may say more.';
  return new Failure(field('code') ?? 'trainer_failed', first.slice('error: '.length).trim(), hint);
}
