import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../base/folders.ts';
import type { Client } from '../../contract/client.ts';
import { Failure } from '../../contract/failure.ts';
import { htmlPage, markdownPage } from '../../reproduce/page.ts';
import { sweepName } from '../../reproduce/paper-facts.ts';
import { type PaperStudy, type PaperSweep, sweepsOf } from '../../reproduce/paper-study.ts';
import { ragenStudies } from '../../reproduce/ragen-studies.ts';
import { quickSettings, ragenSweeps } from '../../reproduce/ragen-sweeps.ts';
import { type ReportFacts, type Results, reportBlocks } from '../../reproduce/report.ts';
import { ensureSweep, type SweepPlan, sweepResult, trainSweeps } from '../../reproduce/sweeps.ts';
import { nearest } from '../../run-config/nearest.ts';
import { advise, exitStopped, print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { writeReason } from '../write-reason.ts';
import { acrossHosts, type CommandOptions, withStudio } from './with-client.ts';

interface ReproduceOptions extends CommandOptions {
  quick?: boolean;
  only?: string[];
  model?: string;
  seeds?: number;
  device?: string;
  out?: string;
}

/** A paper's studies with the sweeps that they need. */
interface Selection {
  studies: readonly PaperStudy[];
  sweeps: readonly PaperSweep[];
}

/**
 * Runs the studies of a paper in the data folder and writes report.md and report.html, again after every sweep. Another call resumes. A signal ends the
 * command but not the current trainer. Throws `usage_invalid`, `preset_unknown`, or `study_incomplete` if runs failed or were stopped.
 */
export async function reproduce(paper: string, options: ReproduceOptions): Promise<void> {
  const { home, quick = false, model = 'starter', seeds, device, out } = options;
  if (paper !== 'ragen')
    throw new Failure('usage_invalid', `There are no studies of "${paper}".`, 'Use `starpo reproduce ragen`.');
  const selection = select(options);
  const folder = resolve(out ?? `ragen-report${quick ? '-quick' : ''}`);
  const plan: SweepPlan = {
    model,
    nameOf: (sweep) => sweepName(model, sweep, quick),
    changes: (sweep, own) => ({ ...(quick && quickSettings(model, sweep, own)), ...(device && { device }) }),
  };
  const command = [
    'starpo reproduce ragen',
    ...(quick ? ['--quick'] : []),
    ...(model === 'starter' ? [] : [`--model ${model}`]),
    ...(seeds ? [`--seeds ${seeds}`] : []),
    ...(device ? [`--device ${device}`] : []),
  ];
  const printed = new Map<string, string>();
  const signals = nextSignal();
  try {
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const work = acrossHosts(studio, async (client) => {
        const { version } = await client.call('system.info', {});
        const facts = factsOf(version, command.join(' '), { model, quick, selection });
        return runStudies(client, { selection, plan, printed }, (results) =>
          writeReport(folder, facts, selection, results),
        );
      });
      await Promise.race([work.then((results) => finish(folder, results)), signals.signal.then(exitStopped)]);
    });
  } finally {
    signals.close();
  }
}

/** Returns the chosen studies and their sweeps. Throws `usage_invalid` for an unknown study, `preset_unknown` for an unknown model. */
function select({ only = [], model = 'starter', quick = false, seeds }: ReproduceOptions): Selection {
  const all = ragenStudies(model);
  const ids = all.map(({ id }) => id);
  const unknown = only.find((id) => !ids.includes(id));
  if (unknown !== undefined) {
    const proposal = nearest(unknown, ids);
    throw new Failure(
      'usage_invalid',
      `Study "${unknown}" was not found.`,
      proposal ? `Did you mean ${proposal}?` : `Studies: ${ids.join(', ')}.`,
    );
  }
  const studies = all.filter(({ id }) => only.length === 0 || only.includes(id));
  const needed = new Set(studies.flatMap(sweepsOf));
  const sweeps = ragenSweeps(model).filter(({ id }) => needed.has(id));
  return { studies, sweeps: sweeps.map((sweep) => ({ ...sweep, seeds: seeds ?? (quick ? 1 : sweep.seeds) })) };
}

function factsOf(
  version: string,
  command: string,
  { model, quick, selection }: { model: string; quick: boolean; selection: Selection },
): ReportFacts {
  return {
    title: 'Studies of the RAGEN paper (arXiv 2504.20073)',
    ...{ command, version, quick },
    sweeps: new Map(selection.sweeps.map(({ id, title }) => [id, title])),
    date: new Date().toISOString().slice(0, 10),
    model:
      model === 'starter'
        ? 'the starter policies with about a million parameters (WebShop has its own), warm-started on demonstrations. The paper trains Qwen2.5-0.5B, so absolute success differs; compare the signs of the differences.'
        : model,
  };
}

interface Work {
  selection: Selection;
  plan: SweepPlan;
  /** The status last printed, by run. */
  printed: Map<string, string>;
}

/** Trains every sweep that has not completed. Calls `report` at the start and after each sweep. */
async function runStudies(
  client: Client,
  { selection: { studies, sweeps }, plan, printed }: Work,
  report: (results: Results) => void,
): Promise<Results> {
  const ids = new Map<string, string>();
  for (const sweep of sweeps) ids.set(sweep.id, await ensureSweep(client, plan, sweep));
  const measures = studies.flatMap(({ rows, claims }) => [
    ...rows.flatMap(({ columns }) => columns.map(({ measure }) => measure)),
    ...claims.flatMap(({ measure, lowerMeasure = measure }) => [measure, lowerMeasure]),
  ]);
  client.on('run', ({ id, name, study, status, iteration, iterations }) => {
    if (!study || ![...ids.values()].includes(study.id) || printed.get(id) === status) return;
    if (status === 'created' || status === 'queued') return;
    printed.set(id, status);
    print(`${name}  ${status}  ${iteration}/${iterations}`);
  });
  let results: Results = new Map();
  await trainSweeps(client, [...ids.values()], async () => {
    const all = new Map<string, Awaited<ReturnType<typeof sweepResult>>>();
    for (const [sweep, id] of ids) all.set(sweep, await sweepResult(client, id, measures));
    results = all;
    report(results);
  });
  return results;
}

function writeReport(folder: string, facts: ReportFacts, { studies }: Selection, results: Results): void {
  const blocks = reportBlocks(facts, studies, results);
  try {
    makeFolder(folder);
    writeFileSync(join(folder, 'report.md'), markdownPage(blocks));
    writeFileSync(join(folder, 'report.html'), htmlPage(facts.title, blocks));
  } catch (error) {
    throw new Failure(
      'file_not_written',
      `The report can't be written to ${folder}: ${writeReason(join(folder, 'report.md'), error)}.`,
      'Choose another folder with --out.',
    );
  }
}

function finish(folder: string, results: Results): void {
  print(join(folder, 'report.md'));
  print(join(folder, 'report.html'));
  const incomplete = [...results.values()].filter(({ completed, total }) => completed < total);
  if (incomplete.length === 0) return;
  advise(`Incomplete sweeps: ${incomplete.map(({ id }) => id).join(', ')}`);
  const count = incomplete.reduce((sum, { completed, total }) => sum + total - completed, 0);
  throw new Failure(
    'study_incomplete',
    `${count} ${count === 1 ? 'run has' : 'runs have'} not completed.`,
    'Run the command again to resume them. `starpo runs` lists the runs, and `starpo show RUN` shows why one failed.',
  );
}
