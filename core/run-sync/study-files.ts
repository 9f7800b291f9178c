import { mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type RunSummary, studyName, studyPoints, studySeeds } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { trashFolder } from '../run-directory/names.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

export const studiesFolder = (home: string) => join(home, 'studies');

/** studies/<id>.json, as docs/formats/studies.md describes it. */
export const studyFile = z.looseObject({
  version: z.literal(1),
  name: studyName,
  created: z.number(),
  base: z.string(),
  environment: z.string(),
  points: studyPoints,
  seeds: studySeeds,
  config: z.record(z.string(), z.unknown()),
});
export type StudyFile = z.infer<typeof studyFile>;

/** Returns the id of a point's run with a seed. Points count from 1. */
export const studyRunId = (studyId: string, point: number, seed: number) =>
  `${studyId}-p${point + 1}-s${seed}`;

const partsOf = (runId: string) =>
  /^(?<id>.+)-p(?<point>\d{1,3})-s(?<seed>\d{1,10})$/.exec(runId)?.groups ?? {};

/** Returns the default name of a sweep's run. */
export const nameInStudy = ({ name, point, seed }: NonNullable<RunSummary['study']>) =>
  `${name}: ${point} s${seed}`;

/**
 * The studies of a data folder. Only the folder's host changes them, and each change appears by one rename; what is copied into the folder is found by the next
 * look at it.
 */
export class StudyFiles {
  private readonly folder: string;
  private readonly trash: string;
  private readonly known = new Map<string, { key: string; study: StudyFile | null }>();

  constructor(home: string) {
    this.folder = studiesFolder(home);
    this.trash = trashFolder(home);
    this.look();
  }

  /** Ids of the studies that can be read, after another look at the folder. */
  look(): string[] {
    const ids = this.names().map((name) => name.slice(0, -'.json'.length));
    for (const id of [...this.known.keys()]) if (!ids.includes(id)) this.known.delete(id);
    for (const id of ids) this.read(id);
    return ids.filter((id) => this.known.get(id)?.study);
  }

  /** Throws `study_unknown`, or `study_unreadable` for an invalid file. */
  get(id: string): StudyFile {
    const study = this.read(id);
    if (study) return study;
    if (this.known.has(id))
      throw new Failure(
        'study_unreadable',
        `${this.path(id)} is not a valid sweep file.`,
        'See docs/formats/studies.md. A newer StarPO Studio may have written it.',
      );
    throw studyUnknown(id);
  }

  /** Whether the name is free, whatever lies there. */
  isFree(id: string): boolean {
    return statSync(this.path(id), { throwIfNoEntry: false }) === undefined;
  }

  write(id: string, study: StudyFile): void {
    mkdirSync(this.folder, { recursive: true });
    writeWhole(this.path(id), study);
    this.read(id);
  }

  /** Moves a study to the trash, as `ID.TIME.json`. */
  discard(id: string): void {
    mkdirSync(this.trash, { recursive: true });
    renameSync(this.path(id), join(this.trash, `${id}.${Date.now()}.json`));
    this.known.delete(id);
  }

  /** Takes the study back that was discarded last; gives whether there is one by that name then. */
  restore(id: string): boolean {
    const discarded = this.discarded(id);
    if (this.isFree(id) && discarded.length > 0)
      renameSync(join(this.trash, discarded.at(-1)!), this.path(id));
    return this.read(id) !== null;
  }

  /** Those in the trash that can be taken back, newest first; of one that was deleted more than once the last. */
  trashed(): { studyId: string; name: string; deletedAt: number }[] {
    const times = new Map<string, number>();
    for (const file of namesIn(this.trash, /^[a-z0-9-]{1,40}\.\d{1,15}\.json$/)) {
      const [id, time] = file.split('.') as [string, string];
      times.set(id, Math.max(Number(time), times.get(id) ?? 0));
    }
    return [...times]
      .map(([studyId, deletedAt]) => {
        const study = readStudy(join(this.trash, `${studyId}.${deletedAt}.json`));
        return { studyId, name: study?.name ?? studyId, deletedAt };
      })
      .sort((a, b) => b.deletedAt - a.deletedAt || (a.studyId < b.studyId ? -1 : 1));
  }

  /** Takes a run's study back, where it has one that was discarded. */
  restoreOf(runId: string): void {
    const { id } = partsOf(runId);
    if (id !== undefined) this.restore(id);
  }

  /** To which study a run belongs, of those that the last look has found. */
  of(runId: string): RunSummary['study'] {
    return this.placeIn(this.known.get(partsOf(runId).id ?? '')?.study, runId);
  }

  /** The same, of a run that may have gone to the trash with its study. */
  everOf(runId: string): RunSummary['study'] {
    const { id = '' } = partsOf(runId);
    const discarded = () => readStudy(join(this.trash, this.discarded(id).at(-1) ?? ''));
    return this.of(runId) ?? this.placeIn(discarded(), runId);
  }

  private placeIn(study: StudyFile | null | undefined, runId: string): RunSummary['study'] {
    const { id = '', point, seed } = partsOf(runId);
    const varied = study?.points[Number(point) - 1];
    if (!study || !varied || !study.seeds.includes(Number(seed))) return null;
    return { id, name: study.name, point: varied.name, seed: Number(seed) };
  }

  /** Files of a study in the trash, the one that was discarded last at the end. */
  private discarded(id: string): string[] {
    return namesIn(this.trash, new RegExp(`^${id}\\.\\d{1,15}\\.json$`)).sort();
  }

  private path(id: string): string {
    return join(this.folder, `${id}.json`);
  }

  private names(): string[] {
    return namesIn(this.folder, /^[a-z0-9-]{1,40}\.json$/);
  }

  /** Returns null if the file is missing or unreadable. */
  private read(id: string): StudyFile | null {
    const stat = statSync(this.path(id), { throwIfNoEntry: false });
    if (!stat) {
      this.known.delete(id);
      return null;
    }
    const key = `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
    const known = this.known.get(id);
    if (known?.key === key) return known.study;
    const study = readStudy(this.path(id));
    this.known.set(id, { key, study });
    return study;
  }
}

export const studyUnknown = (named: string) =>
  new Failure(
    'study_unknown',
    `Sweep ${named} was not found.`,
    'List sweeps with `starpo sweep list` or on the Sweeps page.',
  );

/** Null where the file can't be read as a study. */
function readStudy(path: string): StudyFile | null {
  try {
    return studyFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** None where the folder can't be read. */
function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder).filter((name) => pattern.test(name));
  } catch {
    return [];
  }
}
