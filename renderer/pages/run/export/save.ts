import type { Saver } from '../../../../core/contract/bridge.ts';
import type { MadeExport } from '../../../../core/contract/contract.ts';
import { Failure } from '../../../../core/contract/failure.ts';
import { signInCode } from '../../../api/transport.ts';

const saver = (): Saver | undefined => (window as { starpo?: Saver }).starpo;

/** In the desktop app the person chooses a place, for however many files; a browser saves one. */
export const savesFolders = () => saver() !== undefined;

/** Gives the person the files of an export; null where they thought better of it, else a sentence on where they are. */
export async function saveExport(made: MadeExport): Promise<string | null> {
  const desktop = saver();
  if (!desktop) return download(made);
  const { place, problem } = await desktop.save(made.exportId);
  if (problem !== null)
    throw new Failure('export_unsaved', `The files can't be saved: ${problem}`, 'Choose another folder.');
  return place === null ? null : `Saved in ${place}`;
}

async function download({ exportId, files }: MadeExport): Promise<string> {
  for (const { name } of files) {
    const response = await fetch(`/api/exports/${exportId}/${encodeURIComponent(name)}`, {
      headers: { Authorization: `Bearer ${signInCode()}` },
    });
    if (!response.ok)
      throw new Failure(
        'export_unsaved',
        'The file could not be downloaded.',
        'Sign in again with the address that `starpo serve` printed, then export it once more.',
      );
    offer(await response.blob(), name);
  }
  return files.length === 1 ? `Downloaded ${files[0]!.name}` : `Downloaded ${files.length} files`;
}

/** Has the browser save some bytes under a name. */
function offer(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun by the next turn; the bytes needn't stay.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
