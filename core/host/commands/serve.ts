import { resolve } from 'node:path';
import { quoted } from '../../base/quoted.ts';
import { createClient } from '../../contract/client.ts';
import { asFailure, Failure } from '../../contract/failure.ts';
import { TensorBoardLog } from '../../exports/tensorboard-live.ts';
import { tensorBoardFolder } from '../../run-directory/names.ts';
import { webFolder } from '../../server/address.ts';
import { print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import type { Studio } from '../studio.ts';
import { withStudio } from './with-client.ts';

interface Options {
  port: number;
  tensorboard?: string;
  home?: string;
}

/** Serves the app until a signal; trainers continue. With `tensorboard`, writes the metrics of running runs to that folder. */
export async function serve({ port, tensorboard, home }: Options): Promise<void> {
  const options = { home, endpoint: { port, webFolder }, worksQueue: true, inBackground: true };
  await withStudio(options, async (studio) => {
    if (tensorboard !== undefined) refuseOwnFolder(resolve(tensorboard), studio.home);
    await studio.stay();
    const { signal } = nextSignal();
    const log = tensorboard === undefined ? null : logTo(resolve(tensorboard), studio);
    print(`StarPO Studio is at ${(await studio.endpoint()).address}`);
    print(`Data folder: ${studio.home}. Press Ctrl+C to stop the app; training continues.`);
    if (tensorboard !== undefined) print(`tensorboard --logdir ${quoted(resolve(tensorboard))}`);
    const failure = await Promise.race([signal, studio.ended]);
    await log?.finish();
    if (failure instanceof Failure) throw failure;
  });
}

/** Rejects the app's own folder, because two writers would corrupt the event files. */
function refuseOwnFolder(folder: string, home: string): void {
  if (folder !== tensorBoardFolder(home)) return;
  throw new Failure(
    'usage_invalid',
    `${folder} is reserved for the app's own TensorBoard events.`,
    'Choose another folder, or turn on TensorBoard events on the Settings page of the app.',
  );
}

/** Follows runs through the current host, and reconnects when it ends. */
function logTo(folder: string, studio: Studio): TensorBoardLog {
  const logError = (error: unknown) => process.stderr.write(`TensorBoard: ${asFailure(error).message}\n`);
  const log = new TensorBoardLog(folder, logError);
  const follow = async () => {
    const channel = await studio.open();
    // Opening fails only when the studio is closing.
    channel.onClose(() => void follow().catch(() => {}));
    log.follow(createClient(channel));
  };
  follow().catch(logError);
  return log;
}
