import { chooseFront, electronExecutable } from './lib/front.mjs';
import { become, fail, pinnedNode, root } from './lib/process.mjs';
import { setupApp, setupTrainer } from './lib/setup-steps.mjs';
import { forgetBuild } from './lib/trainer-build.mjs';

const args = process.argv.slice(2);
try {
  await setupApp();
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
    become(pinnedNode(), ['out/main/cli.cjs', 'serve', ...args]);
  }
  // The app is open while this goes on, and ends with us.
  const ending = new AbortController();
  // A terminal's Ctrl-C reaches the compilers too: what they make of it is no failed build.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => ending.abort());
  process.on('exit', () => {
    ending.abort();
    forgetBuild();
  });
  await setupTrainer(ending.signal);
} catch (error) {
  fail(error);
}
