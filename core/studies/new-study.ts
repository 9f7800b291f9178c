import type { Input, RunSource, Settings } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/schema.ts';
import type { StudyFile } from '../run-sync/study-files.ts';
import { type CreateRunParts, prepareConfig } from '../runs/create-run.ts';
import type { Trainer } from '../trainer/trainer.ts';

const maxRuns = 2000;

/**
 * Returns the file of a new sweep. Throws as {@link prepareConfig} does for any of its settings (the message names the setting), `environment_unknown`, or
 * `study_invalid` if settings or seeds are repeated or a setting or the common changes set the seed. With `start`, it also throws `command_not_confirmed`, before the
 * sweep exists, so that a client can repeat the request after the user has confirmed.
 */
export async function newStudyFile(
  parts: CreateRunParts & { trainer: Pick<Trainer, 'confirmed'> },
  { name, base, set, points, seeds, environment, start }: Input<'studies.create'>,
): Promise<StudyFile> {
  checkPoints(set, points, seeds);
  const config = await prepareConfig(parts, { ...base, set });
  for (const point of points) {
    try {
      const own = await prepareConfig(parts, { config: { ...config }, set: point.set });
      if (start) parts.trainer.confirmed?.require(own);
    } catch (error) {
      const { code, message, hint, unconfirmed } = asFailure(error);
      throw new Failure(code, `Setting "${point.name}": ${message}`, hint, unconfirmed);
    }
  }
  return {
    version: 1,
    name,
    created: Date.now(),
    base: describeBase(base),
    environment: evaluatedLabel(config, environment),
    points,
    seeds,
    config: { ...config },
  };
}

function checkPoints(set: Settings = {}, points: StudyFile['points'], seeds: readonly number[]): void {
  const invalid = (message: string, hint: string) => new Failure('study_invalid', message, hint);
  const names = points.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw invalid(`Two settings are named "${repeated}".`, 'Use unique names.');
  if (new Set(seeds).size < seeds.length) throw invalid('A seed is repeated.', 'List each seed once.');
  const useSeeds = "Use the sweep's list of seeds.";
  if (set.seed !== undefined) throw invalid('"set" changes the seed.', useSeeds);
  const seeded = points.find(({ set }) => set.seed !== undefined);
  if (seeded) throw invalid(`Setting "${seeded.name}" changes the seed.`, useSeeds);
  if (points.length * seeds.length > maxRuns)
    throw invalid(
      `${points.length} settings x ${seeds.length} seeds = ${points.length * seeds.length} runs.`,
      `A sweep can have at most ${maxRuns}.`,
    );
}

/** Returns the label of the environment whose success rate is compared. Throws `environment_unknown`. */
function evaluatedLabel({ environments }: RunConfig, label: string | undefined): string {
  if (label === undefined) return (environments.find(({ validate }) => validate) ?? environments[0]!).label;
  const labels = environments.map((environment) => environment.label);
  if (labels.includes(label)) return label;
  throw new Failure(
    'environment_unknown',
    `The sweep's runs have no environment ${label}.`,
    `Choose one of ${labels.join(', ')}.`,
  );
}

function describeBase(base: RunSource): string {
  if ('preset' in base) return base.preset;
  if ('config' in base) return 'configuration';
  return base.checkpoint === undefined ? base.run : `${base.run}@${base.checkpoint}`;
}
