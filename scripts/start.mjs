import { chooseFront, electronExecutable } from './lib/front.mjs';
import { pastedCommand } from './lib/link.mjs';
import { become, fail, pinnedNode, root } from './lib/process.mjs';
import { setupApp, setupTrainer } from './lib/setup-steps.mjs';
import { forgetBuild } from './lib/trainer-build.mjs';

const args = process.argv.slice(2);
// Used in hints of the app and the server.
process.env.STARPO_COMMAND ??= pastedCommand(process.env.INIT_CWD);
try {
  await setupApp();
  const front = chooseFront();
  const electron = front === 'electron' ? await electronExecutable() : undefined;
  if (electron) {
    become(electron, [root, ...args]);
  } else {
    if (front === 'electron') console.log('Electron could not be downloaded. The app opens in your browser instead.');
    become(pinnedNode(), ['out/main/cli.cjs', 'serve', ...args]);
  }
  // The build runs while the app is open and stops with it.
  const abort = new AbortController();
  // Ctrl+C also reaches the compilers; don't report that as a failed build.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => abort.abort());
  process.on('exit', () => {
    abort.abort();
    forgetBuild();
  });
  await setupTrainer(abort.signal);
} catch (error) {
  fail(error);
}
