import type { Database } from 'better-sqlite3';
import { Failure } from '../contract/failure.ts';
import { sql as runs } from './migrations/0001-runs.ts';
import { sql as annotations } from './migrations/0002-annotations.ts';
import { sql as phases } from './migrations/0003-phases.ts';
import { sql as alertEvidence } from './migrations/0004-alert-evidence.ts';
import { sql as echoTrap } from './migrations/0005-echo-trap.ts';
import { sql as library } from './migrations/0006-library.ts';
import { sql as timeTaken } from './migrations/0007-time-taken.ts';
import { sql as copies } from './migrations/0008-copies.ts';

/** Each lifts the database by one version (`user_version`). None is changed once it was released. */
const migrations: readonly string[] = [
  runs,
  annotations,
  phases,
  alertEvidence,
  echoTrap,
  library,
  timeTaken,
  copies,
];

/** The version that this StarPO Studio writes. */
export const historyVersion = migrations.length;

export const versionOf = (database: Database) => database.pragma('user_version', { simple: true }) as number;

/** Brings a database to the newest version. Throws `history_version_unsupported` for a newer one. */
export function migrate(database: Database): void {
  database
    .transaction(() => {
      const version = versionOf(database);
      if (version > historyVersion) throw newerHistory();
      for (const migration of migrations.slice(version)) database.exec(migration);
      database.pragma(`user_version = ${historyVersion}`);
    })
    .immediate();
}

/** What whoever would write to a newer database is told. */
export function newerHistory(): Failure {
  return new Failure(
    'history_version_unsupported',
    'The run history was written by a newer StarPO Studio, so this one only shows it.',
    'Update StarPO Studio, or choose another data folder with --home.',
  );
}
