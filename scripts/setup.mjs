import { offerLink } from './lib/link.mjs';
import { fail } from './lib/process.mjs';
import { setup, setupNativeTests } from './lib/setup-steps.mjs';

const forTests = process.argv.includes('--for-tests');
await setup({ forTests }).catch(fail);
if (forTests) await setupNativeTests().catch(fail);
else await offerLink();
