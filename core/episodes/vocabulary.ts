import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { runFiles } from '../run-directory/names.ts';

/** The vocabulary of a byte-level tokenizer.json. */
const tokenizerFile = z.looseObject({
  model: z.looseObject({ vocab: z.record(z.string(), z.int()) }),
  added_tokens: z.array(z.looseObject({ id: z.int(), content: z.string() })).default([]),
});

/** The bytes of each token, by id. */
export type Vocabulary = ReadonlyMap<number, Uint8Array>;

/** Reads the vocabulary from any checkpoint, because all have the same tokenizer. Returns null if none is readable. */
export async function readVocabulary(runFolder: string): Promise<Vocabulary | null> {
  const checkpoints = join(runFolder, runFiles.checkpoints);
  const names = await readdir(checkpoints).catch(() => []);
  for (const name of names.filter((each) => /^\d+$/.test(each)).sort()) {
    try {
      return vocabularyOf(JSON.parse(await readFile(join(checkpoints, name, 'tokenizer.json'), 'utf8')));
    } catch {}
  }
  return null;
}

function vocabularyOf(file: unknown): Vocabulary {
  const { model, added_tokens: added } = tokenizerFile.parse(file);
  const vocabulary = new Map<number, Uint8Array>();
  for (const [token, id] of Object.entries(model.vocab)) vocabulary.set(id, bytesOf(token));
  for (const { id, content } of added) vocabulary.set(id, new TextEncoder().encode(content));
  return vocabulary;
}

/** Maps characters to bytes by GPT-2's alphabet: printable bytes map to themselves, others in order to characters from U+0100. */
const byteOf: ReadonlyMap<number, number> = (() => {
  const isPrintable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const others = bytes.filter((byte) => !isPrintable(byte));
  return new Map([
    ...bytes.filter(isPrintable).map((byte): [number, number] => [byte, byte]),
    ...others.map((byte, at): [number, number] => [0x100 + at, byte]),
  ]);
})();

const bytesOf = (token: string) => Uint8Array.from(token, (character) => byteOf.get(character.codePointAt(0)!) ?? 0x3f);

/** Returns the text of each token. A character that spans several tokens belongs to the last of them. */
export function textsOf(vocabulary: Vocabulary, ids: readonly number[]): string[] {
  const decoder = new TextDecoder();
  return ids.map((id, at) => decoder.decode(vocabulary.get(id) ?? new Uint8Array(), { stream: at < ids.length - 1 }));
}
