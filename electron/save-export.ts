import { constants } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dialog, IpcMain } from 'electron';
import type { ExportSaver } from '../core/contract/bridge.ts';
import { exportId } from '../core/contract/exports.ts';
import { asFailure } from '../core/contract/failure.ts';
import { exportFolder } from '../core/exports/exports.ts';
import { isOwnFrame } from './security.ts';

type Saved = Awaited<ReturnType<ExportSaver['save']>>;

const notSaved: Saved = { place: null, problem: null };

/** Opens a save dialog and copies an export's files: a single file to the chosen name, several into a folder. The page sends only
 * the export id. An existing file is replaced only after the system dialog has confirmed it.
 */
export function saveExports(ipc: IpcMain, dialog: Dialog, home: string): void {
  ipc.handle('starpo-save', async (event, input: unknown): Promise<Saved> => {
    const id = exportId.safeParse(input);
    if (!isOwnFrame(event.senderFrame) || !id.success) return { place: null, problem: 'Request rejected.' };
    try {
      return await save(dialog, exportFolder(home, id.data));
    } catch (error) {
      return { place: null, problem: asFailure(error).message };
    }
  });
}

async function save(dialog: Dialog, folder: string): Promise<Saved> {
  const names = await readdir(folder);
  const [only] = names;
  if (names.length === 1) {
    const options = { defaultPath: only!, title: 'Save the export' };
    const { canceled, filePath } = await dialog.showSaveDialog(options);
    if (canceled || !filePath) return notSaved;
    await copyFile(join(folder, only!), filePath);
    return { place: filePath, problem: null };
  }
  const { canceled, filePaths } = await dialog.showOpenDialog({
    title: 'Choose a folder for the files',
    buttonLabel: 'Save here',
    properties: ['openDirectory', 'createDirectory'],
  });
  const target = filePaths[0];
  if (canceled || target === undefined) return notSaved;
  const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
  for (const name of names) await copyFile(join(folder, name), join(target, name), flags);
  return { place: target, problem: null };
}
