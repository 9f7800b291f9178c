import type { Bringer, Saver } from '../../core/contract/bridge.ts';
import type { MadeExport } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { linkTo } from '../../core/contract/handshake.ts';
import type { Api } from './api.ts';
import { signInCode } from './transport.ts';

/** How files leave the app and come into it: by the system's dialogs in the desktop app, else as the browser's downloads and uploads. Large ones pass by the page's memory. */

const desktop = () => (window as { starpo?: Saver & Bringer }).starpo;

/** Whether the system's dialogs choose files and places, for however many files at once. */
export const inDesktop = () => desktop() !== undefined;

/** Gives the person something that the page has made itself. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  download(name, address);
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Gives the person the files of an export, which core then forgets; null where they thought better of it, else a sentence on where they are. */
export async function saveExport(api: Api, { exportId, files }: MadeExport): Promise<string | null> {
  const saver = desktop();
  if (!saver) {
    // Following a link, the browser takes as long as it likes; core forgets the export after it.
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

interface Bringing {
  /** Aborted where the person gives it up. */
  signal: AbortSignal;
  /** Hears the share that has come, in [0, 1]. */
  progress: (share: number) => void;
}

/** Brings a bundle to core: of a file that was chosen in the page, else of one that the person chooses now. Gives core's name of it; null where they thought better of it or gave it up. */
export async function bringBundle(
  api: Api,
  chosen: File | null,
  { signal, progress }: Bringing,
): Promise<string | null> {
  const { file } = await api.call('bundles.begin', chosen ? { bytes: chosen.size } : {});
  try {
    const brought = chosen
      ? await upload(`/api/bundles/${file}`, chosen, { signal, progress })
      : await choose(file);
    if (brought && !signal.aborted) return file;
  } catch (error) {
    await api.call('bundles.drop', { file }).catch(() => {});
    throw error;
  }
  await api.call('bundles.drop', { file });
  return null;
}

/** In the desktop app. Gives whether a file was chosen. */
async function choose(file: string): Promise<boolean> {
  const { name, problem } = await desktop()!.bring(file);
  if (problem !== null) throw unread(problem);
  return name !== null;
}

/** By a request that tells how far it is, which `fetch` can't. */
function upload(path: string, content: File, { signal, progress }: Bringing): Promise<true> {
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  return new Promise<true>((resolve, reject) => {
    request.upload.onprogress = ({ loaded }) => progress(loaded / content.size);
    request.onload = () =>
      request.status === 204 ? resolve(true) : reject(unread(request.responseText.trim()));
    request.onerror = () => reject(unread('The connection was lost.'));
    request.onabort = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', abort);
    request.open('PUT', path);
    request.setRequestHeader('Authorization', `Bearer ${signInCode()}`);
    request.send(content);
  }).finally(() => signal.removeEventListener('abort', abort));
}

const unread = (reason: string) =>
  new Failure('bundle_missing', `The file can't be read: ${reason}`, 'Choose it again.');

function download(name: string, address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
