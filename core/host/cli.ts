import { runCommand } from './run-command.ts';

/** The command line. `starpo help exit-codes` lists its exit codes. */

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void runCommand(process.argv.slice(2));
