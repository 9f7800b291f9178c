import { join } from 'node:path';

/** The script that tests call as `starpo`: from its source, or as `npm test` has it, built, which starts in half the time. */
export const commandLine = join(import.meta.dirname, '..', process.env.STARPO_CLI ?? 'core/host/cli.ts');
