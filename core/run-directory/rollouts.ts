import { open, readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { type EpisodeSummary, episodeSummary } from '../contract/episodes.ts';
import { Failure } from '../contract/failure.ts';
import { type Episode, episode } from './episode.ts';

/** Paths of a rollout file and its index, relative to the run directory. */
export interface RolloutPaths {
  file: string;
  index: string;
}

const location = z.looseObject({ offset: z.int().min(0), length: z.int().min(1) });
const entries = z.array(z.intersection(episodeSummary, location));
/** Overlapping frames could make a small file take hours to read. */
const areDisjoint = (episodes: z.infer<typeof entries>) =>
  episodes.every(({ offset }, index) => {
    const before = episodes[index - 1];
    return !before || before.offset + before.length <= offset;
  });
const indexFile = z.looseObject({ version: z.int(), episodes: entries.refine(areDisjoint) });

/** Returns the entries of an index file. Throws if it is invalid. */
export const parseIndex = (text: string) => indexFile.parse(JSON.parse(text)).episodes;

/** Maximum decompressed size of an episode, a guard against invalid or hostile files. */
const episodeLimit = 256 << 20;

/** Returns the headers of a rollout file's episodes, in order. Throws `rollout_missing` or `rollout_corrupt`. */
export async function readEpisodes(folder: string, paths: RolloutPaths): Promise<EpisodeSummary[]> {
  const index = await readIndex(folder, paths);
  return index.map((entry) => episodeSummary.parse(entry));
}

/** Reads one episode. Throws `episode_unknown`, `rollout_missing` or `rollout_corrupt`. */
export async function readEpisode(folder: string, paths: RolloutPaths, id: string): Promise<Episode> {
  const parsed = episode.safeParse(await readRawEpisode(folder, paths, id));
  if (!parsed.success) throw corrupt(paths.file);
  return parsed.data;
}

/** Reads one episode and keeps its unknown keys. */
export async function readRawEpisode(
  folder: string,
  paths: RolloutPaths,
  id: string,
): Promise<Record<string, unknown>> {
  const entry = (await readIndex(folder, paths)).find((each) => each.id === id);
  if (!entry) throw unknownEpisode(id);
  const frame = await readSlice(inside(folder, paths.file), entry.offset, entry.length);
  try {
    return z.looseObject({}).parse(JSON.parse(unpack(frame)));
  } catch {
    throw corrupt(paths.file);
  }
}

/** Reads the whole file. Throws `rollout_missing` or `rollout_corrupt`. */
export const readRollout = (folder: string, { file }: RolloutPaths): Promise<Buffer> =>
  readFile(inside(folder, file)).catch(() => {
    throw missing(file);
  });

/** Parses an episode from the bytes of its file. Throws `rollout_corrupt`. */
export function parseFrame<Schema extends z.ZodType>(
  schema: Schema,
  { file }: RolloutPaths,
  bytes: Buffer,
  { offset, length }: z.infer<typeof location>,
): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(unpack(bytes.subarray(offset, offset + length))));
  } catch {
    throw corrupt(file);
  }
}

/** Decompresses an episode. Throws if the frame is invalid. */
export const unpack = (frame: Buffer): string =>
  zstdDecompressSync(frame, { maxOutputLength: episodeLimit }).toString('utf8');

/** Reads the index. Throws `rollout_missing` or `rollout_corrupt`. */
export async function readIndex(folder: string, paths: RolloutPaths) {
  const path = inside(folder, paths.index);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw missing(paths.index);
  }
  try {
    return parseIndex(text);
  } catch {
    throw corrupt(paths.index);
  }
}

async function readSlice(path: string, offset: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r').catch(() => {
    throw missing(path);
  });
  try {
    if (offset + length > (await file.stat()).size) throw corrupt(path);
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, offset);
    if (bytesRead < length) throw corrupt(path);
    return bytes;
  } finally {
    await file.close();
  }
}

/** Resolves a path from the journal. Throws `rollout_corrupt` if it is outside the run directory. */
export function inside(folder: string, path: string): string {
  const full = resolve(folder, path);
  if (relative(folder, full).startsWith('..')) throw corrupt(path);
  return full;
}

export const unknownEpisode = (id: string) =>
  new Failure('episode_unknown', `Episode ${id} was not found.`, 'Choose one from the list of episodes.');
const missing = (path: string) =>
  new Failure(
    'rollout_missing',
    `The file ${path} was not found.`,
    'The file may have been deleted. Choose another iteration.',
  );
const corrupt = (path: string) =>
  new Failure('rollout_corrupt', `The file ${path} is invalid.`, 'Other iterations can still be replayed.');
