import type { Input, RunMarks } from '../../contract/contract.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withClient } from './with-client.ts';

interface Options {
  home?: string;
}

type Change = Omit<Input<'runs.annotate'>, 'runId'>;

async function annotate(home: string | undefined, named: string, change: Change): Promise<RunMarks> {
  return withClient(home, async (client) =>
    client.call('runs.annotate', { runId: await resolveRun(client, named), ...change }),
  );
}

/** Adds or removes tags and prints the resulting tags. */
export async function tagRun(
  run: string,
  tags: string[],
  { home, remove }: Options & { remove?: boolean },
): Promise<void> {
  const marks = await annotate(home, run, remove ? { removeTags: tags } : { addTags: tags });
  print(marks.tags.join(', ') || 'no tags');
}

/** Replaces the note, or prints it if `text` is undefined. An empty text removes it. */
export async function noteRun(run: string, text: string | undefined, { home }: Options): Promise<void> {
  const { note } = await annotate(home, run, text === undefined ? {} : { note: text });
  if (text === undefined) print(note || 'no note');
}

export async function starRun(run: string, { home, off }: Options & { off?: boolean }): Promise<void> {
  await annotate(home, run, { starred: !off });
}

export async function archiveRun(run: string, { home, off }: Options & { off?: boolean }): Promise<void> {
  await annotate(home, run, { archived: !off });
}
