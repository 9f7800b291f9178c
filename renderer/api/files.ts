import type { BundlePicker, ExportSaver } from '../../core/contract/bridge.ts';
import type { MadeExport } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { linkTo } from '../../core/contract/handshake.ts';
import type { Api } from './api.ts';
import { signInCode } from './transport.ts';

/**
 * Saves and opens files: with system dialogs in the desktop app, otherwise as browser downloads and uploads.
 * Large files bypass the page's memory.
 */

const desktop = () => (window as { starpo?: ExportSaver & BundlePicker }).starpo;

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

/** Uploads a bundle: `chosen`, or a file from the system's dialog. Returns the server's id for it, or null if the user canceled. */
export async function uploadBundle(
  api: Api,
  chosen: File | null,
  { signal, progress }: UploadOptions,
): Promise<string | null> {
  const { file } = await api.call('bundles.begin', chosen ? { bytes: chosen.size } : {});
  try {
    const uploaded = chosen ? await upload(`/api/bundles/${file}`, chosen, { signal, progress }) : await choose(file);
    if (uploaded && !signal.aborted) return file;
  } catch (error) {
    await api.call('bundles.drop', { file }).catch(() => {});
    throw error;
  }
  await api.call('bundles.drop', { file });
  return null;
}

/** Opens the desktop app's file dialog. Returns whether the user chose a file. */
async function choose(file: string): Promise<boolean> {
  const { name, problem } = await desktop()!.pickBundle(file);
  if (problem !== null) throw readFailure(problem);
  return name !== null;
}

/** Uses XMLHttpRequest, because `fetch` doesn't report upload progress. */
function upload(path: string, content: File, { signal, progress }: UploadOptions): Promise<true> {
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  return new Promise<true>((resolve, reject) => {
    request.upload.onprogress = ({ loaded }) => progress(loaded / content.size);
    request.onload = () => (request.status === 204 ? resolve(true) : reject(readFailure(request.responseText.trim())));
    request.onerror = () => reject(readFailure('The connection was lost.'));
    request.onabort = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', abort);
    request.open('PUT', path);
    request.setRequestHeader('Authorization', `Bearer ${signInCode()}`);
    request.send(content);
  }).finally(() => signal.removeEventListener('abort', abort));
}

const readFailure = (reason: string) =>
  new Failure('bundle_missing', `The file can't be read: ${reason}`, 'Choose it again.');

function download(name: string, address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
