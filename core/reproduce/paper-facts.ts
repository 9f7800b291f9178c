import type { PaperStudyFacts, PaperSweepInput } from '../contract/contract.ts';
import { type PaperStudy, type PaperSweep, sweepsOf } from './paper-study.ts';
import { ragenStudies } from './ragen-studies.ts';
import { ragenSweeps } from './ragen-sweeps.ts';
import { paperText } from './report.ts';

/** Returns the name of a paper's sweep in a data folder, by which it is found again. */
export const sweepName = (model: string, { title }: PaperSweep, quick = false): string =>
  `RAGEN: ${title}${model === 'starter' ? '' : `, ${model}`}${quick ? ' (quick)' : ''}`;

/** Returns the studies of the RAGEN paper for a model. Throws `preset_unknown`. */
export function paperStudies(model: string): PaperStudyFacts[] {
  const sweeps = new Map(ragenSweeps(model).map((sweep) => [sweep.id, sweep]));
  return ragenStudies(model).map((study) => factsOf(model, study, sweeps));
}

function factsOf(model: string, study: PaperStudy, sweeps: ReadonlyMap<string, PaperSweep>): PaperStudyFacts {
  const { id, title, question, constant, missing, rows } = study;
  return {
    ...{ id, title, question, constant },
    missing: [...missing],
    sweeps: sweepsOf(study).map((sweep) => inputOf(model, sweeps.get(sweep)!)),
    numbers: rows.flatMap(({ sweep, point, columns, paper = {} }) => {
      const values = columns.flatMap(({ title: quantity }) =>
        paper[quantity] === undefined ? [] : { quantity, value: paperText(paper[quantity]) },
      );
      return values.length > 0 ? { sweep: sweepName(model, sweeps.get(sweep)!), point, values } : [];
    }),
  };
}

const inputOf = (model: string, sweep: PaperSweep): PaperSweepInput => ({
  name: sweepName(model, sweep),
  base: { preset: `${model}-${sweep.preset}` },
  set: { ...sweep.set },
  points: sweep.points.map(({ name, set }) => ({ name, set: { ...set } })),
  seeds: Array.from({ length: sweep.seeds }, (_, index) => index + 1),
});
