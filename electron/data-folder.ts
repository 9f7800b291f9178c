import { accessSync, constants, existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import type { Dialog, IpcMain, MessageBoxOptions, MessageBoxReturnValue } from 'electron';
import { z } from 'zod';
import { dataFolder } from '../core/base/home.ts';
import type { FolderChoice, FolderWish } from '../core/contract/bridge.ts';
import type { ApiError } from '../core/contract/contract.ts';
import { asFailure, Failure } from '../core/contract/failure.ts';
import { isDataFolder, lockFolder } from '../core/history/database.ts';
import type { Preferences } from './preferences.ts';
import { isOwnFrame } from './security.ts';

const wishes = z.enum(['look', 'choose', 'usual'] satisfies FolderWish[]);
/** What a press of each button of the question at the start means. */
const answers = ['again', 'usual', 'quit'] as const;

/** What whoever started the app has named, by `--home FOLDER` or STARPO_HOME. */
function namedFolder(): string | undefined {
  const options = { home: { type: 'string' } } as const;
  const { home } = parseArgs({ args: process.argv.slice(1), options, strict: false }).values;
  return (typeof home === 'string' && home) || process.env.STARPO_HOME || undefined;
}

interface Opening<T> {
  ask(options: MessageBoxOptions): Promise<Pick<MessageBoxReturnValue, 'response'>>;
  open(home: string): Promise<T>;
}

/**
 * Opens the data folder: the one that was named at the start, else the one that was chosen, else the usual one. Where a chosen one can't be had, such as one on a disk that isn't
 * connected, the person says what is to be done: an empty history in another place would look like the loss of every run. Null where they rather quit.
 */
export async function openDataFolder<T>(
  preferences: Preferences,
  { ask, open }: Opening<T>,
): Promise<T | null> {
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
      if (answer === 'usual') return open(dataFolder());
      if (answer === 'quit') return null;
    }
  }
}

function question({ message, hint }: Failure): MessageBoxOptions {
  return {
    type: 'warning',
    message,
    detail: `${hint}\n\nThe usual folder, ${dataFolder()}, has runs of its own. What you have chosen stays: the next start looks for it again.`,
    buttons: ['Try again', 'Use the usual folder this time', 'Quit'],
    defaultId: 0,
    cancelId: 2,
    noLink: true,
  };
}

interface Choosing {
  /** The data folder that is in use. */
  home: string;
  preferences: Preferences;
  restart(): void;
}

/** Lets the person choose the data folder of later starts. The page says what is wished for and never names a place; nothing is moved. */
export function chooseDataFolder(
  ipc: IpcMain,
  dialog: Dialog,
  { home, preferences, restart }: Choosing,
): void {
  const choice = (problem: ApiError | null = null): FolderChoice => {
    if (namedFolder()) return { by: 'start', next: null, problem: null };
    const chosen = preferences.dataFolder;
    const next = chosen ?? dataFolder();
    return {
      by: chosen === null ? 'nobody' : 'person',
      next: isSame(next, home) ? null : next,
      problem,
    };
  };
  const fulfil = async (wish: FolderWish) => {
    if (wish === 'look' || namedFolder()) return;
    if (wish === 'usual') {
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
  ipc.handle('starpo-data-folder', async (event, wanted: unknown): Promise<FolderChoice> => {
    const wish = wishes.safeParse(wanted);
    if (!isOwnFrame(event.senderFrame) || !wish.success) throw new Error('It was not asked for.');
    try {
      await fulfil(wish.data);
      return choice();
    } catch (error) {
      return choice(asFailure(error).toApiError());
    }
  });
  ipc.on('starpo-restart', (event) => {
    if (isOwnFrame(event.senderFrame)) restart();
  });
}

/** Makes a data folder of the one that was picked, or within it where it has files of others, and gives its place. Throws where that can't be. */
function prepare(picked: string, home: string): string {
  if (isWithin(picked, home))
    throw new Failure(
      'data_folder_unusable',
      `${picked} is inside the data folder that is in use.`,
      'Choose a folder outside it.',
    );
  const folder = isFree(picked) ? picked : join(picked, 'starpo-studio');
  if (!isFree(folder))
    throw new Failure(
      'data_folder_unusable',
      `${folder} has other files, and no data of StarPO Studio.`,
      'Choose another folder, or a new one.',
    );
  make(folder);
  try {
    // As every start takes it: a folder where this fails would fail then. The lock that it leaves is what the start looks for.
    lockFolder(folder).release();
  } catch (error) {
    if (asFailure(error).code !== 'data_folder_in_use') throw error;
  }
  check(folder);
  return folder;
}

/** Makes one folder, with nothing above it: Node never ends where a system such as /proc says that a parent isn't there which is. */
function make(folder: string): void {
  try {
    if (!existsSync(folder)) mkdirSync(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Throws where a folder isn't there, which making it would hide, or can't be written. */
function check(folder: string): void {
  if (!isDataFolder(folder))
    throw new Failure(
      'data_folder_missing',
      `The data folder ${folder} isn't there.`,
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
    `The folder ${folder} can't be used: ${error instanceof Error ? error.message : String(error)}`,
    'Check its permissions, and whether its disk is mounted for reading alone.',
  );

/** Whether a folder is a data folder, or may become one: it is empty or not there yet. */
function isFree(folder: string): boolean {
  if (isDataFolder(folder) || !existsSync(folder)) return true;
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Where a folder really is, whatever links lead to it. */
const real = (folder: string) => (existsSync(folder) ? realpathSync(folder) : resolve(folder));

const isSame = (one: string, other: string) => real(one) === real(other);

function isWithin(folder: string, outer: string): boolean {
  const path = relative(real(outer), real(folder));
  return path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..';
}
