import { Failure } from '../contract/failure.ts';

export const trainerUnusable = (problem: string) =>
  new Failure('trainer_unusable', problem, 'Run `npm run setup` to build it again.');

/** Parses the last error in the trainer's stderr: the lines `error: ...`, `  code: ...` and `  hint: ...`. Returns null if none was found. */
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
