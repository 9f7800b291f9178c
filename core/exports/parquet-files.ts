import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BasicType, fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { type Episode, episode } from '../run-directory/episode.ts';
import { trainSplit } from '../run-directory/names.ts';
import { corrupt, inside, missing, readIndex, unpack } from '../run-directory/rollouts.ts';
import { float16Array, float32Array } from '../run-directory/token-arrays.ts';
import type { RolloutEntry } from './record.ts';

/** Rows of a group: what is kept in memory of a table before it goes to the disk. An episode of a large model may be long. */
const episodeRows = 1000;
const tokenRows = 100_000;

interface Column<R> {
  name: string;
  type: BasicType;
  nullable?: boolean;
  of(row: R): unknown;
}

/** A Parquet file (Snappy) that is written group by group, however long the table. */
class Table<R> {
  private readonly columns: readonly Column<R>[];
  private readonly groupRows: number;
  private readonly writer: ParquetWriter;
  private rows: R[] = [];

  constructor(path: string, columns: readonly Column<R>[], groupRows: number) {
    this.columns = columns;
    this.groupRows = groupRows;
    const writer = fileWriter(path);
    this.writer = new ParquetWriter({
      writer,
      schema: schemaFromColumnData({ columnData: this.data() }),
      createdBy: 'StarPO Studio',
    });
  }

  add(row: R): void {
    this.rows.push(row);
    if (this.rows.length >= this.groupRows) this.flush();
  }

  finish(): void {
    if (this.rows.length > 0) this.flush();
    this.writer.finish();
  }

  private flush(): void {
    this.writer.write({ columnData: this.data(), rowGroupSize: this.groupRows });
    this.rows = [];
  }

  private data() {
    return this.columns.map(({ name, type, nullable = false, of }) => ({
      name,
      type,
      nullable,
      data: this.rows.map(of),
    }));
  }
}

const episodeColumns: Column<Episode>[] = [
  { name: 'id', type: 'STRING', of: ({ id }) => id },
  { name: 'iteration', type: 'INT32', of: ({ iteration }) => iteration },
  { name: 'split', type: 'STRING', of: ({ split }) => split },
  { name: 'environment', type: 'STRING', of: ({ environment }) => environment },
  { name: 'environment_type', type: 'STRING', of: ({ type }) => type },
  { name: 'level', type: 'INT32', of: ({ group }) => group },
  { name: 'member', type: 'INT32', of: ({ member }) => member },
  { name: 'seed', type: 'DOUBLE', of: ({ seed }) => seed },
  { name: 'reward', type: 'DOUBLE', of: ({ reward }) => reward },
  { name: 'success', type: 'BOOLEAN', of: ({ success }) => success },
  { name: 'ended', type: 'STRING', of: ({ ended }) => ended },
  { name: 'turns', type: 'INT32', of: ({ turns }) => turns },
  { name: 'actions', type: 'INT32', of: ({ actions }) => actions },
  { name: 'tokens', type: 'INT32', of: ({ tokens }) => tokens },
  { name: 'trained_on', type: 'BOOLEAN', of: ({ kept, split }) => kept && split === trainSplit },
  { name: 'format_valid', type: 'BOOLEAN', of: ({ format_valid }) => format_valid },
  { name: 'prompt', type: 'STRING', of: ({ prompt_text }) => prompt_text },
  { name: 'initial', type: 'STRING', of: ({ initial }) => initial },
  {
    name: 'conversation',
    type: 'JSON',
    of: ({ steps }) =>
      steps.map(({ state, response, think, answer, actions, reward, penalty }) => ({
        ...{ state, response, think, answer, actions, reward, penalty },
      })),
  },
];

interface Token {
  episode: string;
  iteration: number;
  turn: number;
  position: number;
  id: number;
  logprob: number;
  entropy: number;
  advantage: number | null;
  value: number | null;
  trained: boolean;
}

const tokenColumns: Column<Token>[] = [
  { name: 'episode', type: 'STRING', of: ({ episode }) => episode },
  { name: 'iteration', type: 'INT32', of: ({ iteration }) => iteration },
  { name: 'turn', type: 'INT32', of: ({ turn }) => turn },
  { name: 'position', type: 'INT32', of: ({ position }) => position },
  { name: 'token_id', type: 'INT32', of: ({ id }) => id },
  { name: 'logprob', type: 'FLOAT', of: ({ logprob }) => logprob },
  { name: 'entropy', type: 'FLOAT', of: ({ entropy }) => entropy },
  { name: 'advantage', type: 'FLOAT', nullable: true, of: ({ advantage }) => advantage },
  { name: 'value', type: 'FLOAT', nullable: true, of: ({ value }) => value },
  { name: 'trained_on', type: 'BOOLEAN', of: ({ trained }) => trained },
];

/** The sampled tokens of an episode; `turn` and `position` (within the turn) count from 0. */
function* tokensOf({ id, iteration, split, steps }: Episode): Generator<Token> {
  for (const [turn, { tokens }] of steps.entries()) {
    const ids = Buffer.from(tokens.ids, 'base64');
    const logprobs = float32Array(tokens.logprobs);
    const entropies = float16Array(tokens.entropies);
    const advantages = tokens.advantages === undefined ? null : float16Array(tokens.advantages);
    const values = tokens.values === undefined ? null : float32Array(tokens.values);
    const trained = Buffer.from(tokens.trained, 'base64');
    for (const [position, logprob] of logprobs.entries())
      yield {
        ...{ episode: id, iteration, turn, position, logprob },
        id: ids.readInt32LE(4 * position),
        entropy: entropies[position] ?? Number.NaN,
        advantage: advantages?.[position] ?? null,
        value: values?.[position] ?? null,
        trained: split === trainSplit && trained[position] === 1,
      };
  }
}

interface Steps {
  signal?: AbortSignal | undefined;
  progress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Writes `episodes.parquet`, one row per episode, and `tokens.parquet`, one row per sampled token, for all episode files of a run. Returns the file
 * names. Throws `rollout_corrupt`; episodes deleted in the meantime are skipped.
 */
export async function writeParquet(
  folder: string,
  rollouts: readonly RolloutEntry[],
  target: string,
  { signal, progress }: Steps = {},
): Promise<string[]> {
  const names = ['episodes.parquet', 'tokens.parquet'];
  const episodes = new Table(join(target, names[0]!), episodeColumns, episodeRows);
  const tokens = new Table(join(target, names[1]!), tokenColumns, tokenRows);
  for (const [index, rollout] of rollouts.entries()) {
    progress?.(index, rollouts.length);
    for await (const played of episodesOf(folder, rollout)) {
      signal?.throwIfAborted();
      episodes.add(played);
      for (const token of tokensOf(played)) tokens.add(token);
    }
  }
  episodes.finish();
  tokens.finish();
  return names;
}

/** Reads a file of episodes once, frame by frame. */
async function* episodesOf(folder: string, { file, index }: RolloutEntry): AsyncGenerator<Episode> {
  const found = await packed(folder, { file, index }).catch((error) => {
    if (error.code === 'rollout_missing') return null;
    throw error;
  });
  if (!found) return;
  for (const { offset, length } of found.index) {
    const frame = found.bytes.subarray(offset, offset + length);
    let played: Episode;
    try {
      played = episode.parse(JSON.parse(unpack(frame)));
    } catch {
      throw corrupt(file);
    }
    yield played;
  }
}

async function packed(folder: string, paths: { file: string; index: string }) {
  const index = await readIndex(folder, paths);
  const bytes = await readFile(inside(folder, paths.file)).catch(() => {
    throw missing(paths.file);
  });
  return { index, bytes };
}
