import { runChecks } from './lib/checks.mjs';
import { fail } from './lib/process.mjs';

const { failed } = await runChecks().catch(fail);
process.exitCode = failed === 0 ? 0 : 1;
