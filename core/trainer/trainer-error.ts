import { asFileFailure, Failure } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { sentence } from '../contract/sentence.ts';

export const trainerUnusable = (problem: string) =>
  new Failure(
    'trainer_unusable',
    sentence(problem),
    'In a checkout, run `npm run setup` to build it again. Otherwise reinstall the app.',
  );

/** Returns why the system can't start the trainer. Only a missing or unsuitable file needs a new build. */
export function unstartable(executable: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EAGAIN' || code === 'ENOMEM')
    return new Failure(
      'too_many_processes',
      `Can't start the trainer ${executable}: the system is out of memory or processes.`,
      'Close other programs, or raise the limit on processes (`ulimit -u`), then try again.',
    );
  const rejected = code === 'ENOENT' ? null : asFileFailure(error);
  const message = `Can't start the trainer ${executable}: ${fileReason(error)}.`;
  return rejected ? new Failure('trainer_unusable', message, rejected.hint) : trainerUnusable(message);
}

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
  return new Failure(field('code') ?? 'trainer_failed', sentence(first.slice('error: '.length)), sentence(hint));
}
