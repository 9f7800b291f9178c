import { z } from 'zod';
import type { Client } from '../../contract/client.ts';
import { collapseInWords } from '../../contract/collapse-words.ts';
import {
  type Estimate,
  type PaperStudyFacts,
  procedures,
  runSource,
  type StudyRow,
  type StudySummary,
} from '../../contract/contract.ts';
import { createSweeps } from '../../contract/create-sweeps.ts';
import { Failure, messageOf } from '../../contract/failure.ts';
import { problemIn } from '../../contract/issue-words.ts';
import { count, percent } from '../../contract/numbers.ts';
import { panelWords } from '../../contract/panel-words.ts';
import { iterationsInWords, lastIterationsTitle, spreadInWords } from '../../contract/study-words.ts';
import { nearest } from '../../run-config/nearest.ts';
import { requireJsonFile } from '../../run-directory/parse-line.ts';
import { advise, print, table } from '../output.ts';
import { resolveSource, resolveStudy } from '../run-reference.ts';
import { printDeleted } from './library.ts';
import { resolveFolders, withAbsoluteFolders } from './new.ts';
import { idleQueue, remindOfQueue } from './queue.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Uses the API for one command about a sweep. */
const withStudy = <T>(
  home: string | undefined,
  named: string,
  use: (client: Client, studyId: string) => Promise<T>,
  options?: Parameters<typeof withClient>[2],
): Promise<T> => withClient(home, async (client) => use(client, await resolveStudy(client, named)), options);

export async function listStudies({ home, json }: CommandOptions): Promise<void> {
  const studies = await withClient(home, (client) => client.call('studies.list', {}), { repeatable: true });
  if (json) return print(JSON.stringify(studies, null, 2));
  if (studies.length === 0) return advise('No sweeps. Create one with `starpo sweep new FILE`.');
  const row = (study: StudySummary) => [
    study.id,
    study.name,
    study.state,
    `${study.runs.completed}/${study.runs.total}`,
    `${study.points.length} x ${study.seeds.length}`,
    study.base,
  ];
  print(table([['SWEEP', 'NAME', 'STATE', 'RUNS', 'SETTINGS x SEEDS', 'BASE'], ...studies.map(row)]));
}

type NewStudyOptions = CommandOptions & { start?: boolean; study?: string; model?: string };

/**
 * Creates a sweep, or the missing sweeps of a paper's study. If the host exits before answering, the command fails instead of retrying.
 * Throws `usage_invalid` unless it is given either a file or a study.
 */
export async function newStudy(
  file: string | undefined,
  { home, start = false, study, model }: NewStudyOptions,
): Promise<void> {
  if ((file === undefined) === (study === undefined))
    throw new Failure(
      'usage_invalid',
      'Specify either a file or --study.',
      'Example: `starpo sweep new --study figure-7`. `starpo sweep papers` lists the studies.',
    );
  const content = file === undefined ? null : readStudy(file);
  await withClient(home, async (client) => {
    if (content) {
      const base = await resolveSource(client, content.base);
      print((await client.call('studies.create', { ...content, base, start })).id);
    } else
      for await (const id of createSweeps(client, (await paperStudyOf(client, study!, model)).sweeps, start)) print(id);
    if (start) await remindOfQueue(client);
  });
}

export async function showPapers(
  study: string | undefined,
  { home, json, model }: CommandOptions & { model?: string },
): Promise<void> {
  await withClient(
    home,
    async (client) => {
      if (study === undefined) {
        const { studies } = await client.call('studies.papers', { model });
        if (json) return print(JSON.stringify(studies, null, 2));
        const row = ({ id, title, sweeps }: PaperStudyFacts) => [
          id,
          String(sweeps.length),
          String(runsOf(sweeps)),
          title,
        ];
        return print(table([['STUDY', 'SWEEPS', 'RUNS', 'TITLE'], ...studies.map(row)]));
      }
      const facts = await paperStudyOf(client, study, model);
      if (json) return print(JSON.stringify(facts, null, 2));
      print(
        table([
          ['study', facts.title],
          ['question', facts.question],
          ['held constant', facts.constant],
          ...(facts.missing.length > 0 ? [['not included', facts.missing.join(' ')]] : []),
        ]),
      );
      print('\nSweeps');
      print(table(facts.sweeps.map(({ name, points, seeds }) => [name, `${points.length} x ${seeds.length}`])));
      if (facts.numbers.length === 0) return;
      print('\nNumbers in the paper');
      print(
        table(
          facts.numbers.flatMap(({ sweep, point, values }) =>
            values.map(({ quantity, value }) => [sweep, point, quantity, value]),
          ),
        ),
      );
    },
    { repeatable: true },
  );
}

const runsOf = (sweeps: PaperStudyFacts['sweeps']) =>
  sweeps.reduce((sum, { points, seeds }) => sum + points.length * seeds.length, 0);

/** Returns the paper's study with an id. Throws `usage_invalid` if it does not exist. */
async function paperStudyOf(client: Client, id: string, model: string | undefined): Promise<PaperStudyFacts> {
  const { studies } = await client.call('studies.papers', { model });
  const found = studies.find((each) => each.id === id);
  if (found) return found;
  const ids = studies.map((each) => each.id);
  const proposal = nearest(id, ids);
  throw new Failure(
    'usage_invalid',
    `Study "${id}" was not found.`,
    proposal ? `Did you mean ${proposal}?` : `Studies: ${ids.join(', ')}.`,
  );
}

export async function showStudy(named: string, { home, json }: CommandOptions): Promise<void> {
  const fetch = async (client: Client) => client.call('studies.get', { studyId: await resolveStudy(client, named) });
  const study = await withClient(home, fetch, { repeatable: true });
  if (json) return print(JSON.stringify(study, null, 2));
  const { summary, table: rows } = study;
  const { completed, total, active, failed } = summary.runs;
  const levels = panelWords(
    rows.flatMap(({ panels }) => panels),
    summary.environment,
  );
  print(
    table([
      ['sweep', `${summary.name} (${summary.id})`],
      ['base', summary.base],
      [
        'state',
        `${summary.state}: completed ${completed} of ${count(total, 'run')}, ${active} active, ${failed} failed`,
      ],
      ['environment', summary.environment],
      ...(levels ? [['levels', levels]] : []),
    ]),
  );
  print('\nSuccess: mean over runs; after training, over completed runs only. 95 % interval for three or more runs');
  const collapses = rows.some(({ collapse }) => collapse);
  print(
    table([
      [
        ...['SETTING', 'RUNS', 'ITERATIONS PER RUN', 'BEFORE', 'AFTER', lastIterationsTitle(rows).toUpperCase()],
        ...(collapses ? ['COLLAPSED', 'OUTCOME'] : []),
      ],
      ...rows.map((row) => [...pointRow(row), ...(collapses ? collapseCells(row) : [])]),
    ]),
  );
  if (collapses)
    print(
      '\nCollapsed: success fell below half of its peak, even if it recovered (docs/collapse-rule.md). Intervals: 95 %, Wilson',
    );
}

export async function startStudy(named: string, { home }: CommandOptions): Promise<void> {
  const start = async (client: Client, studyId: string) => {
    const { runs } = await client.call('studies.start', { studyId });
    return { runs, working: (await client.call('queue.list', {})).working };
  };
  const { runs, working } = await withStudy(home, named, start, { repeatable: true });
  print(`queued or running: ${runs.active} of ${count(runs.total, 'run')}`);
  if (!working) advise(idleQueue);
}

export async function cancelStudy(named: string, { home }: CommandOptions): Promise<void> {
  const cancel = (client: Client, studyId: string) => client.call('studies.cancel', { studyId });
  const { id, runs } = await withStudy(home, named, cancel, { repeatable: true });
  const resume = runs.completed < runs.total ? `; resume the others with \`starpo sweep start ${id}\`` : '';
  advise(`completed: ${runs.completed} of ${count(runs.total, 'run')}${resume}`);
}

/** Deletes a sweep, and its runs with `runs`. Keeps the sweep and throws the first error if a run can't be deleted. */
export async function deleteStudy(
  named: string,
  { home, runs = false }: CommandOptions & { runs?: boolean },
): Promise<void> {
  await withStudy(home, named, async (client, studyId) => {
    const { summary } = await client.call('studies.get', { studyId });
    const result = await client.call('studies.delete', { studyId, runs });
    if (result.refused.length === 0) print(`moved ${studyId} (${summary.name}) to the trash`);
    printDeleted(result);
  });
}

function pointRow({ name, cells, before, after, training }: StudyRow): string[] {
  const completed = cells.filter(({ finished }) => finished).length;
  return [
    name,
    `${completed}/${cells.length}`,
    iterationsInWords(cells),
    ...[before, after, training].map(estimateText),
  ];
}

function collapseCells({ collapse }: StudyRow): string[] {
  if (!collapse) return ['-', '-'];
  const { count, from, kinds } = collapseInWords(collapse);
  const share = `${count} (${percent(collapse.low)} to ${percent(collapse.high)})`;
  return [from === null ? share : `${share}, ${from}`, kinds];
}

function estimateText(estimate: Estimate | null): string {
  if (!estimate) return '-';
  return `${percent(estimate.mean)} (${spreadInWords(estimate, percent)})`;
}

/** A sweep in a file: `base` may name a run as a command does. */
const fileContent = procedures['studies.create'].input
  .omit({ start: true })
  .extend({
    base: z.union(
      runSource.options.map((form) => ('run' in form.shape ? form.extend({ run: z.string() }) : form).strict()),
    ),
  })
  .strict();

/** Reads a sweep file and resolves its paths. Throws `study_invalid`. */
function readStudy(path: string): z.infer<typeof fileContent> {
  const invalid = (problem: string) =>
    new Failure(
      'study_invalid',
      `${path} ${problem}`,
      'Give JSON with name, base, points and seeds, as in docs/formats/studies.md.',
    );
  let value: unknown;
  try {
    value = requireJsonFile(path);
  } catch (error) {
    throw invalid(`${messageOf(error)}.`);
  }
  const parsed = fileContent.safeParse(value);
  if (!parsed.success) throw invalid(`is not a valid sweep: ${problemIn(value, parsed.error)}.`);
  const study = parsed.data;
  if ('config' in study.base) study.base.config = withAbsoluteFolders(study.base.config);
  for (const set of [study.set, ...study.points.map((point) => point.set)]) if (set) resolveFolders(set);
  return study;
}
