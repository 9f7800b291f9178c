import type { Input, RunMarks } from '../../contract/contract.ts';
import { print } from '../output.ts';
import { type CommandOptions, withRun } from './with-client.ts';

type Change = Omit<Input<'runs.annotate'>, 'runId'>;

const annotate = (home: string | undefined, named: string, change: Change): Promise<RunMarks> =>
  withRun(home, named, (client, runId) => client.call('runs.annotate', { runId, ...change }));

/** Adds or removes tags and prints the resulting tags. */
export async function tagRun(
  run: string,
  tags: string[],
  { home, remove }: CommandOptions & { remove?: boolean },
): Promise<void> {
  const marks = await annotate(home, run, remove ? { removeTags: tags } : { addTags: tags });
  print(marks.tags.join(', ') || 'no tags');
}

/** Replaces the note, or prints it if `text` is undefined. An empty text removes it. */
export async function noteRun(run: string, text: string | undefined, { home }: CommandOptions): Promise<void> {
  const { note } = await annotate(home, run, text === undefined ? {} : { note: text });
  if (text === undefined) print(note || 'no note');
}

export async function starRun(run: string, { home, off }: CommandOptions & { off?: boolean }): Promise<void> {
  await annotate(home, run, { starred: !off });
}

export async function archiveRun(run: string, { home, off }: CommandOptions & { off?: boolean }): Promise<void> {
  await annotate(home, run, { archived: !off });
}
