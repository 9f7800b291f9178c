import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { FoundEpisode, Input, Output } from '../contract/contract.ts';
import type { EpisodeSummary } from '../contract/episodes.ts';
import { runFolder } from '../run-directory/names.ts';
import { inside, parseIndex, unpack } from '../run-directory/rollouts.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared, preparedValue } from './statements.ts';

const episodeSteps = z.looseObject({
  steps: z.array(z.looseObject({ response: z.string(), think: z.string().nullable(), answer: z.string().nullable() })),
});

/** Maximum indexed characters per episode. */
const maxLength = 20_000;

interface PendingRollout {
  run: string;
  iteration: number;
  split: string;
  file: string;
  index_file: string;
}

const pendingRollouts = `FROM rollouts JOIN runs ON runs.id = rollouts.run
  LEFT JOIN indexed_rollouts AS indexed ON indexed.run = rollouts.run AND indexed.iteration = rollouts.iteration AND indexed.split = rollouts.split
  WHERE removed = 0 AND indexed.run IS NULL`;

/** Indexes the next rollout file that is not indexed yet, oldest run first. Returns whether there was one. Indexes an unreadable file as empty. */
export function indexNextRollout(database: HistoryDatabase, home: string): boolean {
  const next = prepared<[], PendingRollout>(
    database,
    `SELECT rollouts.run, rollouts.iteration, rollouts.split, file, index_file ${pendingRollouts}
     ORDER BY runs.created_at, rollouts.run, rollouts.iteration, rollouts.split LIMIT 1`,
  ).get();
  if (!next) return false;
  const episodes = readTexts(runFolder(home, next.run), next);
  database
    .transaction(() => {
      const { run, iteration, split } = next;
      prepared(database, 'DELETE FROM episodes WHERE run = ? AND iteration = ? AND split = ?').run(
        run,
        iteration,
        split,
      );
      prepared(database, 'INSERT OR REPLACE INTO indexed_rollouts (run, iteration, split) VALUES (?, ?, ?)').run(
        run,
        iteration,
        split,
      );
      const insert = prepared(
        database,
        `INSERT INTO episodes (run, iteration, split, episode, environment, success, reward, text, facets)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      );
      for (const { id, environment, success, reward, text } of episodes) {
        const facets = facetsOf({ runId: run, environment, success }).join(' ');
        insert.run(run, iteration, split, id, environment, Number(success), reward, text, facets);
      }
    })
    .immediate();
  return true;
}

type Text = Pick<EpisodeSummary, 'id' | 'environment' | 'success' | 'reward'> & {
  text: string;
};

function readTexts(folder: string, { file, index_file }: PendingRollout): Text[] {
  try {
    const episodes = parseIndex(readFileSync(inside(folder, index_file), 'utf8'));
    const bytes = readFileSync(inside(folder, file));
    return episodes.flatMap(({ id, environment, success, reward, offset, length, void: failed }) => {
      if (failed) return []; // It has no score.
      const text = textOf(bytes.subarray(offset, offset + length));
      return text === null ? [] : [{ id, environment, success, reward, text }];
    });
  } catch {
    return [];
  }
}

/** Returns null if the episode is damaged. */
function textOf(frame: Buffer): string | null {
  try {
    const { steps } = episodeSteps.parse(JSON.parse(unpack(frame)));
    const turns = steps.map(({ response, think, answer }) =>
      think === null && answer === null ? response : [think, answer].filter(Boolean).join(' → '),
    );
    return turns.join('\n').slice(0, maxLength);
  } catch {
    return null;
  }
}

type Facets = Partial<{ runId: string; environment: string; success: boolean }>;

/** Returns search words for a filter. Names are hex-encoded, so that the tokenizer does not split them. */
function facetsOf({ runId, environment, success }: Facets): string[] {
  const word = (kind: string, name: string) => `${kind}${Buffer.from(name).toString('hex')}`;
  return [
    ...(runId === undefined ? [] : [word('r', runId)]),
    ...(environment === undefined ? [] : [word('e', environment)]),
    ...(success === undefined ? [] : [success ? 'y1' : 'y0']),
  ];
}

type Search = Input<'episodes.search'>;
type Row = Omit<FoundEpisode, 'success'> & { success: 0 | 1 };

/** Implements `episodes.search`, newest first. */
export function searchEpisodes(database: HistoryDatabase, { limit = 50, ...query }: Search): Output<'episodes.search'> {
  const found = findEpisodes(database, { ...query, limit: limit + 1 });
  return { episodes: found.slice(0, limit), more: found.length > limit, ...indexState(database) };
}

function findEpisodes(
  database: HistoryDatabase,
  { text, offset = 0, limit, ...filter }: Search & { limit: number },
): FoundEpisode[] {
  const words = wordsOf(text);
  const facets = facetsOf(filter);
  const match = [
    ...(words.length > 0 ? [`{text} : (${words.join(' ')})`] : []),
    ...(facets.length > 0 ? [`{facets} : (${facets.join(' ')})`] : []),
  ].join(' AND ');
  const columns = `episodes.run AS runId, coalesce(nullif(runs.given_name, ''), runs.name) AS run, episodes.iteration, split,
    episode AS episodeId, environment, success, reward`;
  const rows =
    match === ''
      ? prepared<[number, number], Row>(
          database,
          `SELECT ${columns}, substr(text, 1, 200) AS excerpt FROM episodes JOIN runs ON runs.id = episodes.run
           ORDER BY episodes.id DESC LIMIT ? OFFSET ?`,
        ).all(limit, offset)
      : prepared<[string, number, number], Row>(
          database,
          `SELECT ${columns}, snippet(episode_text, 0, char(2), char(3), '…', 28) AS excerpt
           FROM episode_text JOIN episodes ON episodes.id = episode_text.rowid JOIN runs ON runs.id = episodes.run
           WHERE episode_text MATCH ? ORDER BY episode_text.rowid DESC LIMIT ? OFFSET ?`,
        ).all(match, limit, offset);
  return rows.map(({ success, ...row }) => ({ ...row, success: success === 1 }));
}

/** Returns quoted FTS5 terms for words and "phrases", so that operators are plain text. The last word matches as a prefix while it is typed. */
function wordsOf(text: string): string[] {
  const parts = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word ?? '');
  const searchable = parts.filter((part) => /[\p{L}\p{N}]/u.test(part));
  const typing = /[\p{L}\p{N}]$/u.test(text);
  return searchable.map((part, place) => (typing && place === searchable.length - 1 ? `"${part}" *` : `"${part}"`));
}

/** Returns the number of indexed episodes and of pending files. */
function indexState(database: HistoryDatabase): { indexed: number; pending: number } {
  const count = (sql: string) => preparedValue<[], number>(database, sql).get() ?? 0;
  return {
    indexed: count(
      'SELECT coalesce(sum(episodes), 0) FROM rollouts JOIN indexed_rollouts USING (run, iteration, split) WHERE removed = 0',
    ),
    pending: count(`SELECT count(*) ${pendingRollouts}`),
  };
}
