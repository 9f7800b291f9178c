import { isImportable } from '../../core/contract/imports.ts';
import type { ChosenFile } from './files.ts';

/** Returns dropped files, and the files in dropped folders that may be part of a run. Must be called during the event. */
export function droppedFiles({ items }: DataTransfer): Promise<ChosenFile[]> {
  // The browser clears the items when the event ends, so take all entries first.
  const found = [...items].map((item) => {
    const entry = item.webkitGetAsEntry();
    // Items that aren't files, such as an image dragged from a page, have no entry.
    return entry ? filesIn(entry, true) : [item.getAsFile()].flatMap((content) => asChosen(content));
  });
  return Promise.all(found).then((files) => files.flat());
}

const asChosen = (content: File | null): ChosenFile[] => (content ? [{ name: content.name, content }] : []);

async function filesIn(entry: FileSystemEntry, isChosen: boolean): Promise<ChosenFile[]> {
  const name = entry.fullPath.replace(/^\//, '');
  if (isFile(entry)) {
    if (!isChosen && !isImportable(name)) return [];
    return [{ name, content: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) }];
  }
  const inner = await entriesIn(entry as FileSystemDirectoryEntry);
  return (await Promise.all(inner.map((each) => filesIn(each, false)))).flat();
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

/** A folder's reader returns its entries in parts, and none at the end. */
async function entriesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return all;
    all.push(...part);
  }
}
