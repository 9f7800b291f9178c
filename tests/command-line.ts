import { join } from 'node:path';

const built = process.env.STARPO_BUILT;

/** The script behind `starpo`: the source, or in `npm test` the build, which starts twice as fast. */
export const commandLine = built ? join(built, 'cli.cjs') : join(import.meta.dirname, '../core/host/cli.ts');
