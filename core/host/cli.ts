import { Failure } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { reportFailure } from './output.ts';
import { runCommand } from './run-command.ts';

/** The command line. `starpo help exit-codes` lists its exit codes. */

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` may close the pipe early.
  if (error.code === 'EPIPE') process.exit(0);
  const problem = `Standard output can't be written: ${fileReason(error)}.`;
  const failure = new Failure('file_not_written', problem, 'Free some disk space, or write to another disk.');
  reportFailure(failure, { json: process.argv.includes('--json') });
  process.exit();
});

void runCommand(process.argv.slice(2));
