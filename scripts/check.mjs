import { runChecks } from './lib/checks.mjs';
import { fail } from './lib/process.mjs';

const { failed, output } = await runChecks().catch(fail);
console.log(output);
process.exitCode = failed === 0 ? 0 : 1;
