import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../base/folders.ts';
import { type RunSummary, studyName, studyPoints, studySeeds } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { namesIn, trashFolder } from '../run-directory/names.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

const studiesFolder = (home: string) => join(home, 'studies');

/** The content of studies/ID.json (docs/formats/studies.md). */
const studyFile = z.looseObject({
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

/** Returns the id of a setting's run with a seed. Settings are numbered from 1. */
export const studyRunId = (studyId: string, point: number, seed: number) => `${studyId}-p${point + 1}-s${seed}`;

const parseRunId = (runId: string) => /^(?<id>.+)-p(?<point>\d{1,3})-s(?<seed>\d{1,10})$/.exec(runId)?.groups ?? {};

/** Returns the default name of a sweep's run. */
export const nameInStudy = ({ name, point, seed }: NonNullable<RunSummary['study']>) => `${name}: ${point} s${seed}`;

/**
 * The sweep files of a data folder. Only the folder's host changes them, each time by one rename. Files copied into the folder are found by the next
 * scan.
 */
export class StudyFiles {
  private readonly folder: string;
  private readonly trash: string;
  private readonly cache = new Map<string, { key: string; study: StudyFile | null }>();

  constructor(home: string) {
    this.folder = studiesFolder(home);
    this.trash = trashFolder(home);
    this.scan();
  }

  /** Scans the folder and returns the ids of valid sweep files. */
  scan(): string[] {
    const ids = this.names().map((name) => name.slice(0, -'.json'.length));
    for (const id of [...this.cache.keys()]) if (!ids.includes(id)) this.cache.delete(id);
    for (const id of ids) this.read(id);
    return ids.filter((id) => this.cache.get(id)?.study);
  }

  /** Throws `study_unknown`, or `study_unreadable` for an invalid file. */
  get(id: string): StudyFile {
    const study = this.read(id);
    if (study) return study;
    if (this.cache.has(id))
      throw new Failure(
        'study_unreadable',
        `${this.path(id)} is not a valid sweep file.`,
        'See docs/formats/studies.md. A newer StarPO Studio may have written it.',
      );
    throw studyUnknown(id);
  }

  /** Returns whether no file has this id, valid or not. */
  isFree(id: string): boolean {
    return statSync(this.path(id), { throwIfNoEntry: false }) === undefined;
  }

  write(id: string, study: StudyFile): void {
    ensureFolder(this.folder);
    writeWhole(this.path(id), study);
    this.read(id);
  }

  /** Moves a sweep file to the trash, as `ID.TIME.json`. */
  discard(id: string): void {
    ensureFolder(this.trash);
    renameSync(this.path(id), join(this.trash, `${id}.${Date.now()}.json`));
    this.cache.delete(id);
  }

  /** Restores the sweep file that was discarded last. Returns whether a valid file has this id afterwards. */
  restore(id: string): boolean {
    const discarded = this.discarded(id);
    if (this.isFree(id) && discarded.length > 0) renameSync(join(this.trash, discarded.at(-1)!), this.path(id));
    return this.read(id) !== null;
  }

  /** Returns the sweeps in the trash, newest first. If one was deleted more than once, only its last file counts. */
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

  /** Restores the discarded sweep of a run, if it has one. */
  restoreForRun(runId: string): void {
    const { id } = parseRunId(runId);
    if (id !== undefined) this.restore(id);
  }

  /** Returns the sweep that a run belongs to, as of the last scan; null if none. */
  of(runId: string): RunSummary['study'] {
    return this.placeIn(this.cache.get(parseRunId(runId).id ?? '')?.study, runId);
  }

  /** Like {@link of}, but includes discarded sweeps. */
  ofTrashed(runId: string): RunSummary['study'] {
    const { id = '' } = parseRunId(runId);
    const discarded = () => readStudy(join(this.trash, this.discarded(id).at(-1) ?? ''));
    return this.of(runId) ?? this.placeIn(discarded(), runId);
  }

  private placeIn(study: StudyFile | null | undefined, runId: string): RunSummary['study'] {
    const { id = '', point, seed } = parseRunId(runId);
    const varied = study?.points[Number(point) - 1];
    if (!study || !varied || !study.seeds.includes(Number(seed))) return null;
    return { id, name: study.name, point: varied.name, seed: Number(seed) };
  }

  /** Returns the names of a sweep's files in the trash, oldest first. */
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
      this.cache.delete(id);
      return null;
    }
    const key = `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
    const cached = this.cache.get(id);
    if (cached?.key === key) return cached.study;
    const study = readStudy(this.path(id));
    this.cache.set(id, { key, study });
    return study;
  }
}

export const studyUnknown = (id: string) =>
  new Failure(
    'study_unknown',
    `Sweep ${id} was not found.`,
    'List sweeps with `starpo sweep list` or on the Sweeps page.',
  );

/** Returns null if the file is missing or invalid. */
const readStudy = (path: string): StudyFile | null => readJsonFile(studyFile, path);
