import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Client } from '../../contract/client.ts';
import { collapseInWords } from '../../contract/collapse-words.ts';
import { type Estimate, procedures, type StudyRow, type StudySummary } from '../../contract/contract.ts';
import { asFailure, Failure } from '../../contract/failure.ts';
import type { Setting } from '../../run-config/settings.ts';
import { percent, print, table } from '../output.ts';
import { resolveStudy } from '../run-reference.ts';
import { printDeleted } from './library.ts';
import { withAbsoluteFolders } from './new.ts';
import { remindOfQueue } from './queue.ts';
import { withClient } from './with-client.ts';

interface Options {
  home?: string;
  json?: boolean;
}

export async function listStudies({ home, json }: Options): Promise<void> {
  const studies = await withClient(home, (client) => client.call('studies.list', {}), { repeatable: true });
  if (json) return print(JSON.stringify(studies, null, 2));
  if (studies.length === 0) return print('No studies. `starpo study new FILE` makes one.');
  const row = (study: StudySummary) => [
    study.id,
    study.name,
    study.state,
    `${study.runs.completed}/${study.runs.total}`,
    `${study.points.length} x ${study.seeds.length}`,
    study.base,
  ];
  print(table([['STUDY', 'NAME', 'STATE', 'RUNS', 'POINTS x SEEDS', 'BASE'], ...studies.map(row)]));
}

/** Made only once: where the host ends before it has answered, that is said, and `starpo study list` tells whether the study is there. */
export async function newStudy(
  file: string,
  { home, start = false }: { home?: string; start?: boolean },
): Promise<void> {
  const wanted = readStudy(file);
  await withClient(home, async (client) => {
    const { id } = await client.call('studies.create', { ...wanted, start });
    print(id);
    if (start) await remindOfQueue(client);
  });
}

export async function showStudy(named: string, { home, json }: Options): Promise<void> {
  const ask = async (client: Client) =>
    client.call('studies.get', { studyId: await resolveStudy(client, named) });
  const study = await withClient(home, ask, { repeatable: true });
  if (json) return print(JSON.stringify(study, null, 2));
  const { summary, table: rows } = study;
  const { completed, total, active, failed } = summary.runs;
  print(
    table([
      ['study', `${summary.name} (${summary.id})`],
      ['made from', summary.base],
      [
        'state',
        `${summary.state}: ${completed} of ${total} runs complete, ${active} active, ${failed} failed`,
      ],
      ['success in', summary.environment],
    ]),
  );
  print('\nSuccess: mean over complete runs and 95 % interval over seeds');
  const collapses = rows.some(({ collapse }) => collapse);
  print(
    table([
      [
        ...['POINT', 'RUNS', 'ITERATIONS', 'BEFORE', 'AFTER', 'LAST 10 ITERATIONS'],
        ...(collapses ? ['COLLAPSED', 'WHAT BECAME OF THEM'] : []),
      ],
      ...rows.map((row) => [...pointRow(row), ...(collapses ? collapseCells(row) : [])]),
    ]),
  );
  if (collapses)
    print('\nCollapsed: half of the best success is gone (docs/collapse-rule.md); with Wilson 95 % interval');
}

export async function startStudy(named: string, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const studyId = await resolveStudy(client, named);
    const { runs } = await client.call('studies.start', { studyId });
    print(`${runs.active} of ${runs.total} runs are queued or being trained`);
    await remindOfQueue(client);
  });
}

export async function cancelStudy(named: string, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const studyId = await resolveStudy(client, named);
    const { runs } = await client.call('studies.cancel', { studyId });
    print(`${runs.completed} of ${runs.total} runs are complete; the others wait for \`starpo study start\``);
  });
}

/** Prints a line for the study, and one for each run that goes with it; fails with the first run that has to stay, with which the study stays. */
export async function deleteStudy(
  named: string,
  { home, runs = false }: { home?: string; runs?: boolean },
): Promise<void> {
  await withClient(home, async (client) => {
    const studyId = await resolveStudy(client, named);
    const { summary } = await client.call('studies.get', { studyId });
    const gone = await client.call('studies.delete', { studyId, runs });
    if (gone.refused.length === 0) print(`${studyId} (${summary.name}) is in the trash`);
    printDeleted(gone);
  });
}

function pointRow({ name, cells, before, after, training }: StudyRow): string[] {
  const sum = (values: number[]) => String(values.reduce((total, value) => total + value, 0));
  const completed = cells.filter(({ status }) => status === 'completed').length;
  return [
    name,
    `${completed}/${cells.length}`,
    `${sum(cells.map(({ iteration }) => iteration))}/${sum(cells.map(({ iterations }) => iterations))}`,
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
  const { n, mean, low, high } = estimate;
  return low === null || high === null
    ? `${percent(mean)} (one run)`
    : `${percent(mean)} (${percent(low)} to ${percent(high)}, n ${n})`;
}

const fileContent = procedures['studies.create'].input.omit({ start: true }).strict();

/** The core that is asked may be elsewhere: a path is meant from where the person is. Throws `study_invalid`. */
function readStudy(path: string): z.infer<typeof fileContent> {
  const invalid = (reason: string) =>
    new Failure(
      'study_invalid',
      `${path} is no study: ${reason}`,
      'Give JSON with name, base, points and seeds; docs/formats/studies.md has an example.',
    );
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw invalid(asFailure(error).message);
  }
  const parsed = fileContent.safeParse(value);
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  const study = parsed.data;
  if ('config' in study.base) study.base.config = withAbsoluteFolders(study.base.config);
  for (const set of [study.set, ...study.points.map((point) => point.set)]) if (set) resolveFolders(set);
  return study;
}

function resolveFolders(set: Record<string, Setting>): void {
  for (const key of ['start.model', 'kl.reference'])
    if (typeof set[key] === 'string' && set[key] !== '') set[key] = resolve(set[key]);
}
