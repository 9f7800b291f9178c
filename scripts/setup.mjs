import { fail } from './lib/process.mjs';
import { setup } from './lib/setup-steps.mjs';

await setup({ forTests: process.argv.includes('--for-tests') }).catch(fail);
