import type { ExportSaver, Uploader } from '../../core/contract/bridge.ts';
import type { MadeExport, Upload } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { linkTo } from '../../core/contract/handshake.ts';
import type { Api } from './api.ts';
import { signInCode } from './transport.ts';

/**
 * Saves and opens files: with system dialogs in the desktop app, otherwise as browser downloads and uploads.
 * Large files bypass the page's memory.
 */

const desktop = () => (window as { starpo?: ExportSaver & Uploader }).starpo;

/** Returns whether the app runs on the desktop, with system file dialogs. */
export const inDesktop = () => desktop() !== undefined;

/** Saves a file that the page has created. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  download(name, address);
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Saves the files of an export, which the server then deletes. Returns a message with their location, or null if the user canceled. */
export async function saveExport(api: Api, { exportId, files }: MadeExport): Promise<string | null> {
  const saver = desktop();
  if (!saver) {
    // The server deletes the export after the download, however long that takes.
    const path = (name: string) => `/api/exports/${exportId}/${encodeURIComponent(name)}`;
    for (const { name } of files) download(name, await linkTo(signInCode(), path(name)));
    return files.length === 1 ? `Downloaded ${files[0]!.name}` : `Downloaded ${files.length} files`;
  }
  const { place, problem } = await saver
    .save(exportId)
    .finally(() => api.call('exports.forget', { exportId }).catch(() => {}));
  if (problem !== null)
    throw new Failure('export_unsaved', `The files can't be saved: ${problem}`, 'Choose another folder.');
  return place === null ? null : `Saved in ${place}`;
}

interface UploadOptions {
  /** Aborted when the user cancels. */
  signal: AbortSignal;
  /** Called with the uploaded share, in [0, 1]. */
  progress: (share: number) => void;
}

/** A file that the user has chosen, with its path within a chosen folder. */
export interface ChosenFile {
  name: string;
  content: File;
}

/** Uploads files for an import. Deletes them again on failure. */
export async function uploadFiles(
  api: Api,
  files: readonly ChosenFile[],
  { signal, progress }: UploadOptions,
): Promise<Upload[]> {
  const total = files.reduce((sum, { content }) => sum + content.size, 0) || 1;
  const uploads: Upload[] = [];
  let done = 0;
  try {
    for (const { name, content } of files) {
      const { file } = await api.call('uploads.begin', { bytes: content.size });
      uploads.push({ file, name });
      const send = desktop() ? uploadParts : upload;
      await send(file, content, { signal, progress: (share) => progress((done + share * content.size) / total) });
      done += content.size;
    }
    return uploads;
  } catch (error) {
    await dropUploads(api, uploads);
    throw error;
  }
}

export const dropUploads = (api: Api, uploads: readonly Upload[]) =>
  api.call('uploads.drop', { files: uploads.map(({ file }) => file) }).catch(() => {});

const partBytes = 4 << 20;

/** Sends a file through Electron's bridge. */
async function uploadParts(file: string, content: File, { signal, progress }: UploadOptions): Promise<void> {
  for (let offset = 0; ; ) {
    signal.throwIfAborted();
    const part = new Uint8Array(await content.slice(offset, offset + partBytes).arrayBuffer());
    const { problem } = await desktop()!.upload(file, offset, part);
    if (problem !== null) throw uploadFailure(problem);
    offset += part.length;
    progress(content.size === 0 ? 1 : offset / content.size);
    if (offset >= content.size) return;
  }
}

/** Uses XMLHttpRequest, because `fetch` doesn't report upload progress. */
function upload(file: string, content: File, { signal, progress }: UploadOptions): Promise<void> {
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  return new Promise<void>((resolve, reject) => {
    request.upload.onprogress = ({ loaded }) => progress(loaded / content.size);
    request.onload = () => (request.status === 204 ? resolve() : reject(uploadFailure(request.responseText.trim())));
    request.onerror = () => reject(uploadFailure('The connection was lost.'));
    request.onabort = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', abort);
    request.open('PUT', `/api/uploads/${file}`);
    request.setRequestHeader('Authorization', `Bearer ${signInCode()}`);
    request.send(content);
  }).finally(() => signal.removeEventListener('abort', abort));
}

const uploadFailure = (reason: string) =>
  new Failure('file_unreadable', `The upload failed: ${reason}`, 'Choose the file again.');

function download(name: string, address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
