import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asFileFailure, Failure } from '../../contract/failure.ts';
import { fileReason } from '../../contract/file-errors.ts';
import { listWithAnd } from '../../contract/sentence.ts';
import { kinds, officialFiles, whereToFind } from './official-files.ts';

export interface CheckedFile {
  name: string;
  content: string;
  /** `official`: the published file; `different`: its name, but different content; `own`: another name. */
  verdict: 'official' | 'different' | 'own';
  bytes: number;
}

export interface MissingFile {
  name: string;
  content: string;
  optional: string | null;
}

/** Finds a catalogue's files in a folder. Throws `catalogue_missing` if the folder can't be read or a required file is missing. */
export function findFiles(folder: string): { found: { name: string; content: string }[]; missing: MissingFile[] } {
  const names = namesIn(folder).sort();
  const found: { name: string; content: string }[] = [];
  const missing: MissingFile[] = [];
  for (const { prefix, content, optional } of kinds) {
    const own = names.filter((name) => name.startsWith(prefix) && name.endsWith('.json'));
    found.push(...own.map((name) => ({ name, content })));
    if (own.length === 0) missing.push({ name: `${prefix}*.json`, content, optional });
  }
  const required = missing.filter(({ optional }) => optional === null);
  if (required.length === 0) return { found, missing };
  const list = listWithAnd(required.map(({ name, content }) => `${name} (${content})`));
  throw new Failure('catalogue_missing', `${folder} lacks ${list}.`, whereToFind);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (!asFileFailure(error)) throw error;
    throw new Failure('catalogue_missing', `Can't read the folder ${folder}: ${fileReason(error)}.`, 'Check its path.');
  }
}

/** Compares a file with the published one of its name. `onBytes` receives the bytes read so far. */
export async function checkFile(
  folder: string,
  { name, content }: { name: string; content: string },
  onBytes: (done: number) => void = () => {},
): Promise<CheckedFile> {
  const path = join(folder, name);
  const official = officialFiles.find((each) => each.name === name);
  const { size } = statSync(path);
  if (!official) return { name, content, verdict: 'own', bytes: size };
  if (size !== official.bytes) return { name, content, verdict: 'different', bytes: size };
  const hash = createHash('sha256');
  let done = 0;
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(part);
    done += part.length;
    onBytes(done);
  }
  const same = hash.digest('hex').startsWith(official.sha256);
  return { name, content, verdict: same ? 'official' : 'different', bytes: size };
}
