import type { Client } from '../contract/client.ts';
import type { RunSource, RunSummary } from '../contract/contract.ts';
import { Failure, runUnknown } from '../contract/failure.ts';
import { nearest } from '../run-config/nearest.ts';

type Named = Pick<RunSummary, 'id' | 'name'>;

/** The most that are listed where a text means several runs. */
const shownMatches = 8;

/**
 * The run that a person means: its id or a beginning of it, its name as the app shows it ("Bandit a16c"), or the end of that alone ("a16c") or a beginning of it.
 * Throws `run_unknown`, or `run_ambiguous` with those that it could be.
 */
export function findRun<R extends Named>(runs: readonly R[], text: string): R {
  const wanted = text.trim().toLowerCase();
  const exact = runs.find(({ id }) => id === wanted);
  if (exact) return exact;
  // A whole name or end comes before the beginning of another.
  const ways = [
    ({ name }: R) => name.toLowerCase() === wanted,
    ({ id }: R) => endOf(id) === wanted,
    ({ id }: R) => id.startsWith(wanted) || endOf(id).startsWith(wanted),
  ];
  for (const way of wanted === '' ? [] : ways) {
    const found = runs.filter(way);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) throw ambiguous(text, found);
  }
  throw unknown(text, runs);
}

/** What tells runs of a preset apart, `a16c`; of a study's runs the seed, `s3`. */
export const endOf = (id: string) => id.slice(id.lastIndexOf('-') + 1);

/** The id of the run that a person means; see {@link findRun}. */
export const resolveRun = async (client: Client, text: string): Promise<string> =>
  findRun(await client.call('runs.list', {}), text).id;

/** What a run is to be made from, with the id of the run that was meant. */
export async function resolveSource(client: Client, source: RunSource): Promise<RunSource> {
  return 'run' in source ? { ...source, run: await resolveRun(client, source.run) } : source;
}

function ambiguous(text: string, found: readonly Named[]): Failure {
  const shown = found.slice(0, shownMatches).map(({ id, name }) => `${id} (${name})`);
  const more = found.length - shown.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  return new Failure(
    'run_ambiguous',
    `"${text}" could be ${found.length} runs.`,
    `Name one of them: ${shown.join(', ')}${rest}.`,
  );
}

function unknown(text: string, runs: readonly Named[]): Failure {
  const { code, message, hint } = runUnknown(text);
  const proposal = nearest(
    text,
    runs.map(({ id }) => id),
  );
  return new Failure(code, message, proposal ? `Did you mean ${proposal}? ${hint}` : hint);
}
