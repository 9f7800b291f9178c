import { chooseFront, electronExecutable } from './lib/front.mjs';
import { become, fail, pinnedNode, root } from './lib/process.mjs';
import { setup } from './lib/setup-steps.mjs';

const args = process.argv.slice(2);
try {
  await setup();
  const front = chooseFront({
    platform: process.platform,
    environment: process.env,
    superuser: process.getuid?.() === 0,
  });
  const electron = front === 'electron' ? await electronExecutable() : undefined;
  if (electron) {
    become(electron, [root, ...args]);
  } else {
    if (front === 'electron')
      console.log('Electron could not be fetched; the app opens in your browser instead.');
    become(pinnedNode(), ['core/host/cli.ts', 'serve', ...args]);
  }
} catch (error) {
  fail(error);
}
