import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Dialog, IpcMain } from 'electron';
import { uploadedFile } from '../core/bundles/exchange.ts';
import type { BundlePicker } from '../core/contract/bridge.ts';
import { asFailure } from '../core/contract/failure.ts';
import { fileId } from '../core/contract/library.ts';
import { isOwnFrame } from './security.ts';

type Picked = Awaited<ReturnType<BundlePicker['pickBundle']>>;

/** Opens a file dialog for a run bundle and copies the file to where the server expects it. The page learns neither path. */
export function pickBundles(ipc: IpcMain, dialog: Dialog, home: string): void {
  ipc.handle('starpo-pick-bundle', async (event, input: unknown): Promise<Picked> => {
    const file = fileId.safeParse(input);
    if (!isOwnFrame(event.senderFrame) || !file.success) return { name: null, problem: 'Request rejected.' };
    try {
      const { canceled, filePaths } = await dialog.showOpenDialog({
        title: 'Choose an exported run',
        buttonLabel: 'Import',
        properties: ['openFile'],
        filters: [{ name: 'Exported runs', extensions: ['zip'] }],
      });
      const path = filePaths[0];
      if (canceled || path === undefined) return { name: null, problem: null };
      const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
      await copyFile(path, uploadedFile(home, file.data), flags);
      return { name: basename(path), problem: null };
    } catch (error) {
      return { name: null, problem: asFailure(error).message };
    }
  });
}
