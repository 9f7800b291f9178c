import type { Client } from '../contract/client.ts';
import { type RunSource, type RunSummary, studyId } from '../contract/contract.ts';
import { asFailure, Failure, runUnknown } from '../contract/failure.ts';
import { nearest } from '../run-config/nearest.ts';
import { studyUnknown } from '../run-sync/study-files.ts';

type Named = Pick<RunSummary, 'id' | 'name'>;

/** The most that are listed where a text means several runs. */
const shownMatches = 8;

/**
 * The run that a person means: its id or a beginning of it, its name as the app shows it ("Bandit a16c", and "Mine a16c" where two are called so), or the end of that alone ("a16c") or a beginning of it.
 * Throws `run_unknown`, or `run_ambiguous` with those that it could be.
 */
export const findRun = <R extends Named>(runs: readonly R[], text: string): R =>
  find(runs, text, { code: 'run_ambiguous', plural: 'runs', unknown: runUnknown });

/** The study that a person means, told as runs are: by id, name, or a part of the id. Throws `study_unknown` or `study_ambiguous`. */
export const findStudy = <S extends Named>(studies: readonly S[], text: string): S =>
  find(studies, text, { code: 'study_ambiguous', plural: 'studies', unknown: studyUnknown });

/** What of the trash a person means, told as runs are. Throws `trash_unknown` or `trash_ambiguous`. */
export const findTrashed = <T extends Named>(trashed: readonly T[], text: string): T =>
  find(trashed, text, { code: 'trash_ambiguous', plural: 'things in the trash', unknown: trashUnknown });

const trashUnknown = (named: string) =>
  new Failure('trash_unknown', `${named} is not in the trash.`, '`starpo trash list` lists what is.');

interface Kind {
  /** Of the failure where a text means several. */
  code: string;
  plural: string;
  unknown: (named: string) => Failure;
}

function find<R extends Named>(all: readonly R[], text: string, kind: Kind): R {
  const wanted = text.trim().toLowerCase();
  const exact = all.find(({ id }) => id === wanted);
  if (exact) return exact;
  // A whole name or end comes before the beginning of another.
  const ways = [
    ({ name }: R) => name.toLowerCase() === wanted,
    ({ id, name }: R) => `${name.toLowerCase()} ${endOf(id)}` === wanted,
    ({ id }: R) => endOf(id) === wanted,
    ({ id }: R) => id.startsWith(wanted) || endOf(id).startsWith(wanted),
  ];
  for (const way of wanted === '' ? [] : ways) {
    const found = all.filter(way);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) throw ambiguous(text, found, kind);
  }
  throw unknown(text, all, kind);
}

/** What tells runs of a preset apart, `a16c`; of a study's runs the seed, `s3`. */
export const endOf = (id: string) => id.slice(id.lastIndexOf('-') + 1);

/** The id of the run that a person means; see {@link findRun}. */
export const resolveRun = async (client: Client, text: string): Promise<string> =>
  findRun(await client.call('runs.list', {}), text).id;

/** The id of the study that a person means; see {@link findStudy}. Throws `study_unreadable` where a file of that name is no study. */
export async function resolveStudy(client: Client, text: string): Promise<string> {
  const studies = await client.call('studies.list', {});
  try {
    return findStudy(studies, text).id;
  } catch (error) {
    // The list has none that can't be read.
    if (asFailure(error).code === 'study_unknown' && studyId.safeParse(text).success)
      await client.call('studies.get', { studyId: text }).catch((why) => {
        if (asFailure(why).code !== 'study_unknown') throw why;
      });
    throw error;
  }
}

/** What a run is to be made from, with the id of the run that was meant. */
export async function resolveSource(client: Client, source: RunSource): Promise<RunSource> {
  return 'run' in source ? { ...source, run: await resolveRun(client, source.run) } : source;
}

function ambiguous(text: string, found: readonly Named[], { code, plural }: Kind): Failure {
  const shown = found.slice(0, shownMatches).map(({ id, name }) => `${id} (${name})`);
  const more = found.length - shown.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  return new Failure(
    code,
    `"${text}" could be ${found.length} ${plural}.`,
    `Name one of them: ${shown.join(', ')}${rest}.`,
  );
}

function unknown(text: string, all: readonly Named[], kind: Kind): Failure {
  const { code, message, hint } = kind.unknown(text);
  const proposal = nearest(
    text,
    all.map(({ id }) => id),
  );
  return new Failure(code, message, proposal ? `Did you mean ${proposal}? ${hint}` : hint);
}
