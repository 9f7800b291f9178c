import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import type { Dialog, IpcMain, MessageBoxOptions, MessageBoxReturnValue } from 'electron';
import { z } from 'zod';
import { ensureFolder } from '../core/base/folders.ts';
import { dataFolder } from '../core/base/home.ts';
import type { FolderChoice, FolderRequest } from '../core/contract/bridge.ts';
import type { ApiError } from '../core/contract/contract.ts';
import { asFailure, Failure, messageOf } from '../core/contract/failure.ts';
import { isDataFolder, lockFolder } from '../core/history/database.ts';
import type { Preferences } from './preferences.ts';
import { isOwnFrame } from './security.ts';

const requests = z.enum(['get', 'choose', 'default'] satisfies FolderRequest[]);
/** The answers of the startup dialog, by button. */
const answers = ['again', 'default', 'quit'] as const;

/** Returns the folder set with `--home FOLDER` or STARPO_HOME. */
function namedFolder(): string | undefined {
  const options = { home: { type: 'string' } } as const;
  const { home } = parseArgs({ args: process.argv.slice(1), options, strict: false }).values;
  return (typeof home === 'string' && home) || process.env.STARPO_HOME || undefined;
}

interface Opening<T> {
  ask(options: MessageBoxOptions): Promise<Pick<MessageBoxReturnValue, 'response'>>;
  open(home: string): Promise<T>;
}

/** Opens the data folder: the folder set at startup, else the chosen folder, else the default. If the chosen folder is unavailable, for
 * example on a disconnected disk, asks the user, because an empty history elsewhere would look like lost runs. Null: quit.
 */
export async function openDataFolder<T>(preferences: Preferences, { ask, open }: Opening<T>): Promise<T | null> {
  const chosen = preferences.dataFolder;
  const named = namedFolder();
  if (named || chosen === null) return open(dataFolder(named));
  for (;;) {
    try {
      check(chosen);
      return await open(chosen);
    } catch (error) {
      const { response } = await ask(question(asFailure(error)));
      const answer = answers[response] ?? 'quit';
      if (answer === 'default') return open(dataFolder());
      if (answer === 'quit') return null;
    }
  }
}

function question({ message, hint }: Failure): MessageBoxOptions {
  return {
    type: 'warning',
    message,
    detail: `${hint}\n\nThe default folder, ${dataFolder()}, has other runs or none. If you use it this time, the app will try your chosen folder again at the next start.`,
    buttons: ['Try again', 'Use the default folder this time', 'Quit'],
    defaultId: 0,
    cancelId: 2,
    noLink: true,
  };
}

interface Choosing {
  /** The current data folder. */
  home: string;
  preferences: Preferences;
  restart(): void;
}

/** Lets the user choose the data folder for subsequent launches. The page sends only the kind of request, never a path. Existing files are not moved. */
export function chooseDataFolder(ipc: IpcMain, dialog: Dialog, { home, preferences, restart }: Choosing): void {
  const choice = (problem: ApiError | null = null): FolderChoice => {
    if (namedFolder()) return { by: 'start', next: null, problem: null };
    const chosen = preferences.dataFolder;
    const next = chosen ?? dataFolder();
    return {
      by: chosen === null ? 'default' : 'user',
      next: isSame(next, home) ? null : next,
      problem,
    };
  };
  const apply = async (request: FolderRequest) => {
    if (request === 'get' || namedFolder()) return;
    if (request === 'default') {
      preferences.dataFolder = null;
      return;
    }
    const { canceled, filePaths } = await dialog.showOpenDialog({
      title: 'Choose a folder for runs and models',
      buttonLabel: 'Use this folder',
      properties: ['openDirectory', 'createDirectory'],
    });
    const picked = filePaths[0];
    if (canceled || picked === undefined) return;
    const folder = prepare(picked, home);
    preferences.dataFolder = isSame(folder, dataFolder()) ? null : folder;
  };
  ipc.handle('starpo-data-folder', async (event, input: unknown): Promise<FolderChoice> => {
    const request = requests.safeParse(input);
    if (!isOwnFrame(event.senderFrame) || !request.success) throw new Error('Request rejected.');
    try {
      await apply(request.data);
      return choice();
    } catch (error) {
      return choice(asFailure(error).toApiError());
    }
  });
  ipc.on('starpo-restart', (event) => {
    if (isOwnFrame(event.senderFrame)) restart();
  });
}

/** Creates a data folder in the picked folder, or in a subfolder if it contains other files. Returns its path. Throws if that fails. */
function prepare(picked: string, home: string): string {
  if (isWithin(picked, home))
    throw new Failure(
      'data_folder_unusable',
      `${picked} is inside the current data folder.`,
      'Choose a folder outside it.',
    );
  const folder = isFree(picked) ? picked : join(picked, 'starpo-studio');
  if (!isFree(folder))
    throw new Failure(
      'data_folder_unusable',
      `${folder} contains other files and isn't a StarPO Studio data folder.`,
      'Choose another folder or create a new folder.',
    );
  try {
    ensureFolder(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
  try {
    // Lock the folder as every start does, to detect errors now. The lock file also marks it as a data folder.
    lockFolder(folder).release();
  } catch (error) {
    if (asFailure(error).code !== 'data_folder_in_use') throw error;
  }
  check(folder);
  return folder;
}

/** Throws if the folder is missing or not writable. Doesn't create it, which would hide a missing disk. */
function check(folder: string): void {
  if (!isDataFolder(folder))
    throw new Failure(
      'data_folder_missing',
      `${folder} was not found or is not a data folder of StarPO Studio.`,
      'If it is on a disk that is not connected, connect it and try again.',
    );
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw unusable(folder, error);
  }
}

const unusable = (folder: string, error: unknown) =>
  new Failure(
    'data_folder_unusable',
    `The folder ${folder} can't be used: ${messageOf(error)}`,
    'Check its permissions and whether its disk is mounted read-only.',
  );

/** Returns whether a folder is a data folder or can become one: it is empty or doesn't exist. */
function isFree(folder: string): boolean {
  if (isDataFolder(folder) || !existsSync(folder)) return true;
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Returns the folder's path without symbolic links. */
const real = (folder: string) => (existsSync(folder) ? realpathSync(folder) : resolve(folder));

const isSame = (one: string, other: string) => real(one) === real(other);

function isWithin(folder: string, outer: string): boolean {
  const path = relative(real(outer), real(folder));
  return path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..';
}
