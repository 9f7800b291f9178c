import type { Client } from '../contract/client.ts';
import { type RunSource, type RunSummary, runId, studyId } from '../contract/contract.ts';
import { asFailure, Failure, runUnknown } from '../contract/failure.ts';
import { shortId } from '../contract/run-names.ts';
import { nearest } from '../run-config/nearest.ts';
import { studyUnknown } from '../run-sync/study-files.ts';

type Named = Pick<RunSummary, 'id' | 'name'>;

/** Limit on the runs listed for an ambiguous reference. */
const shownMatches = 8;

/**
 * Resolves a run by its id or a prefix of it, its name with or without short id ("Bandit a16c"), or its short id ("a16c") or a prefix of that.
 * Throws `run_unknown`, or `run_ambiguous` with the candidates.
 */
export const findRun = <R extends Named>(runs: readonly R[], text: string): R =>
  find(runs, text, { code: 'run_ambiguous', plural: 'runs', unknown: runUnknown });

/** Resolves a sweep like {@link findRun}. Throws `study_unknown` or `study_ambiguous`. */
export const findStudy = <S extends Named>(studies: readonly S[], text: string): S =>
  find(studies, text, { code: 'study_ambiguous', plural: 'sweeps', unknown: studyUnknown });

/** Resolves an item of the trash like {@link findRun}. Throws `trash_unknown` or `trash_ambiguous`. */
export const findTrashed = <T extends Named>(trashed: readonly T[], text: string): T =>
  find(trashed, text, { code: 'trash_ambiguous', plural: 'items in the trash', unknown: trashUnknown });

const trashUnknown = (named: string) =>
  new Failure('trash_unknown', `${named} is not in the trash.`, 'Run `starpo trash list` to list its contents.');

interface Kind {
  /** Error code for an ambiguous reference. */
  code: string;
  plural: string;
  unknown: (named: string) => Failure;
}

function find<R extends Named>(all: readonly R[], text: string, kind: Kind): R {
  const query = text.trim().toLowerCase();
  const exact = all.find(({ id }) => id === query);
  if (exact) return exact;
  // Exact names and short ids take precedence over prefixes.
  const matchers = [
    ({ name }: R) => name.toLowerCase() === query,
    ({ id, name }: R) => `${name.toLowerCase()} ${shortId(id)}` === query,
    ({ id }: R) => shortId(id) === query,
    ({ id }: R) => id.startsWith(query) || shortId(id).startsWith(query),
  ];
  for (const matches of query === '' ? [] : matchers) {
    const found = all.filter(matches);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) throw ambiguous(text, found, kind);
  }
  throw unknown(text, all, kind);
}

/** Returns the id of a run; see {@link findRun}. Throws `run_unreadable` if its folder can't be indexed. */
export async function resolveRun(client: Client, text: string): Promise<string> {
  const runs = await client.call('runs.list', {});
  try {
    return findRun(runs, text).id;
  } catch (error) {
    // The list omits unreadable runs.
    if (asFailure(error).code === 'run_unknown' && runId.safeParse(text).success)
      await client.call('runs.get', { runId: text }).catch((why) => {
        if (asFailure(why).code !== 'run_unknown') throw why;
      });
    throw error;
  }
}

/** Returns the id of a sweep; see {@link findStudy}. Throws `study_unreadable` if its file is invalid. */
export async function resolveStudy(client: Client, text: string): Promise<string> {
  const studies = await client.call('studies.list', {});
  try {
    return findStudy(studies, text).id;
  } catch (error) {
    // The list omits unreadable sweeps.
    if (asFailure(error).code === 'study_unknown' && studyId.safeParse(text).success)
      await client.call('studies.get', { studyId: text }).catch((why) => {
        if (asFailure(why).code !== 'study_unknown') throw why;
      });
    throw error;
  }
}

/** Replaces the run reference in a source with the run's id. */
export async function resolveSource(client: Client, source: RunSource): Promise<RunSource> {
  return 'run' in source ? { ...source, run: await resolveRun(client, source.run) } : source;
}

function ambiguous(text: string, found: readonly Named[], { code, plural }: Kind): Failure {
  const shown = found.slice(0, shownMatches).map(({ id, name }) => `${id} (${name})`);
  const more = found.length - shown.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  return new Failure(code, `"${text}" matches ${found.length} ${plural}.`, `Choose one: ${shown.join(', ')}${rest}.`);
}

function unknown(text: string, all: readonly Named[], kind: Kind): Failure {
  const { code, message, hint } = kind.unknown(text);
  const proposal = nearest(
    text,
    all.map(({ id }) => id),
  );
  return new Failure(code, message, proposal ? `Did you mean ${proposal}? ${hint}` : hint);
}
