import type { Input, RunMarks } from '../../contract/contract.ts';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

interface Options {
  home?: string;
}

async function annotate(home: string | undefined, change: Input<'runs.annotate'>): Promise<RunMarks> {
  return withClient(home, (client) => client.call('runs.annotate', change));
}

/** Adds tags, or takes them away; prints those that the run has then. */
export async function tagRun(
  runId: string,
  tags: string[],
  { home, remove }: Options & { remove?: boolean },
): Promise<void> {
  const marks = await annotate(home, { runId, ...(remove ? { removeTags: tags } : { addTags: tags }) });
  print(marks.tags.join(', ') || 'no tags');
}

/** Replaces the note, an empty text removes it; without one prints what it says. */
export async function noteRun(runId: string, text: string | undefined, { home }: Options): Promise<void> {
  const { note } = await annotate(home, { runId, ...(text === undefined ? {} : { note: text }) });
  if (text === undefined) print(note || 'no note');
}

export async function starRun(runId: string, { home, off }: Options & { off?: boolean }): Promise<void> {
  await annotate(home, { runId, starred: !off });
}

export async function archiveRun(runId: string, { home, off }: Options & { off?: boolean }): Promise<void> {
  await annotate(home, { runId, archived: !off });
}
