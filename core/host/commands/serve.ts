import { resolve } from 'node:path';
import { createClient } from '../../contract/client.ts';
import { asFailure, Failure } from '../../contract/failure.ts';
import { TensorBoardLog } from '../../exports/tensorboard-live.ts';
import { tensorBoardFolder } from '../../run-directory/names.ts';
import { webFolder } from '../../server/web-app.ts';
import { print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import type { Studio } from '../studio.ts';
import { withStudio } from './with-client.ts';

interface Options {
  port: number;
  tensorboard?: string;
  home?: string;
}

/** Serves until a signal; trainers go on. With `tensorboard` the metrics of runs that train meanwhile are passed on to that folder. */
export async function serve({ port, tensorboard, home }: Options): Promise<void> {
  const wishes = { home, endpoint: { port, webFolder }, worksQueue: true, inBackground: true };
  await withStudio(wishes, async (studio) => {
    if (tensorboard !== undefined) refuseOwnFolder(resolve(tensorboard), studio.home);
    await studio.stay();
    const { signal } = nextSignal();
    const log = tensorboard === undefined ? null : logTo(resolve(tensorboard), studio);
    print(`StarPO Studio is at ${(await studio.endpoint()).address}`);
    print(`Data folder: ${studio.home}. Ctrl-C ends the app; training goes on.`);
    if (tensorboard !== undefined) print(`tensorboard --logdir ${resolve(tensorboard)}`);
    await signal;
    await log?.finish();
  });
}

/** Two that write the same files would spoil them. */
function refuseOwnFolder(folder: string, home: string): void {
  if (folder !== tensorBoardFolder(home)) return;
  throw new Failure(
    'usage_invalid',
    `The app itself writes to ${folder}, where that is switched on.`,
    'Name another folder, or switch it on in the app, on the System page.',
  );
}

/** Passes metrics on over whichever core the data folder has. */
function logTo(folder: string, studio: Studio): TensorBoardLog {
  const say = (error: unknown) => process.stderr.write(`TensorBoard: ${asFailure(error).message}\n`);
  const log = new TensorBoardLog(folder, say);
  const follow = async () => {
    const channel = await studio.open();
    // Where this core goes, the next one is followed; where there is none any more, the studio is closing.
    channel.onClose(() => void follow().catch(() => {}));
    log.follow(createClient(channel));
  };
  follow().catch(say);
  return log;
}
