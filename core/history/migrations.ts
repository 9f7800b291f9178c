import type { Database } from 'better-sqlite3';
import { Failure } from '../contract/failure.ts';
import { sql as schema } from './migrations/0001-schema.ts';
import { sql as journalChecksums } from './migrations/0002-journal-checksums.ts';
import { sql as panels } from './migrations/0003-panels.ts';
import { sql as stopReason } from './migrations/0004-stop-reason.ts';

/** Each raises the database by one version (`user_version`). A released migration never changes. */
const migrations: readonly string[] = [schema, journalChecksums, panels, stopReason];

/** SQLite's `application_id` of a run history: "STPO". Histories of development builds before 1.0 have none. */
const applicationId = 0x5354504f;

export const versionOf = (database: Database) => database.pragma('user_version', { simple: true }) as number;

/** Returns whether a development build before 1.0 wrote the database. */
export const isFromBeforeRelease = (database: Database) =>
  versionOf(database) > 0 && database.pragma('application_id', { simple: true }) !== applicationId;

/** Throws `history_version_unsupported` or `history_outdated` before anything is changed. */
export function refuseUnsupported(database: Database, steps: readonly string[] = migrations): void {
  if (isFromBeforeRelease(database)) throw outdatedHistory();
  if (versionOf(database) > steps.length) throw newerHistory();
}

/** Migrates a database to the newest version. Throws `history_version_unsupported` for a newer database and `history_outdated` for a database from before 1.0. */
export function migrate(database: Database, steps: readonly string[] = migrations): void {
  database
    .transaction(() => {
      refuseUnsupported(database, steps);
      for (const step of steps.slice(versionOf(database))) database.exec(step);
      database.pragma(`application_id = ${applicationId}`);
      database.pragma(`user_version = ${steps.length}`);
    })
    .immediate();
}

const outdatedHistory = () =>
  new Failure(
    'history_outdated',
    'The run history was written by a development build before version 1.0.',
    'Run `starpo history rebuild` to build it again from the run folders, or choose another data folder with --home.',
  );

/** Returns the error for writing to a history of a newer version. */
export function newerHistory(): Failure {
  return new Failure(
    'history_version_unsupported',
    'The run history was written by a newer version of StarPO Studio, so it is read-only in this version.',
    'Update StarPO Studio, or choose another data folder with --home.',
  );
}
