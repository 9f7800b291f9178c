import type { IpcMain } from 'electron';
import { z } from 'zod';
import { asFailure } from '../core/contract/failure.ts';
import { fileId } from '../core/contract/imports.ts';
import { receivePart } from '../core/imports/exchange.ts';
import { isOwnFrame } from './security.ts';

/** Maximum bytes of a part. */
const maxPart = 8 << 20;

const request = z.tuple([
  fileId,
  z.number().int().min(0),
  z.instanceof(Uint8Array).refine(({ length }) => length <= maxPart),
]);

const problems = { unknown: 'The upload no longer exists.', length: 'The size of the file has changed.' };

/** Receives the page's uploads in parts over IPC (a browser uploads over HTTP). The page never receives a path. */
export function receiveUploads(ipc: IpcMain, home: string): void {
  ipc.handle('starpo-upload', async (event, ...input: unknown[]): Promise<{ problem: string | null }> => {
    const parsed = request.safeParse(input);
    if (!isOwnFrame(event.senderFrame) || !parsed.success) return { problem: 'Request rejected.' };
    try {
      const problem = await receivePart(home, ...parsed.data);
      return { problem: problem && problems[problem] };
    } catch (error) {
      return { problem: asFailure(error).message };
    }
  });
}
