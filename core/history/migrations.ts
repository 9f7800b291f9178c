import type { Database } from 'better-sqlite3';
import { Failure } from '../contract/failure.ts';

/** Each entry lifts the database by one version (`user_version`). Entries are never changed once released. */
const migrations: readonly string[] = [
  `
  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    preset TEXT NOT NULL,
    task TEXT NOT NULL,
    environments TEXT NOT NULL,
    iterations INTEGER NOT NULL,
    created_at REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'created',
    iteration INTEGER NOT NULL DEFAULT 0,
    started_at REAL,
    ended_at REAL,
    phase TEXT,
    failure TEXT,
    pid INTEGER,
    host TEXT,
    journal_offset INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT -1,
    last_time REAL,
    journal_problem TEXT
  ) STRICT;

  CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    time REAL NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX events_by_type ON events (run, type, seq);

  CREATE TABLE metrics (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    name TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run, name, iteration)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE evaluations (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    iteration INTEGER NOT NULL,
    label TEXT NOT NULL,
    time REAL NOT NULL,
    metrics TEXT NOT NULL,
    PRIMARY KEY (run, iteration, label)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE rollouts (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    iteration INTEGER NOT NULL,
    split TEXT NOT NULL,
    file TEXT NOT NULL,
    index_file TEXT NOT NULL,
    episodes INTEGER NOT NULL,
    PRIMARY KEY (run, iteration, split)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE runs ADD COLUMN device TEXT NOT NULL DEFAULT 'cpu';
  ALTER TABLE runs ADD COLUMN annotations_bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN annotations_problem TEXT;
  ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN starred INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN start_problem TEXT;
  ALTER TABLE rollouts ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE tags (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE alerts (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    severity TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    message TEXT NOT NULL,
    state TEXT NOT NULL,
    raised_at REAL NOT NULL,
    changed_at REAL NOT NULL,
    snoozed_until REAL,
    PRIMARY KEY (run, id)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** Brings a database to the newest version. Throws `history_version_unsupported` for a newer one. */
export function migrate(database: Database): void {
  database
    .transaction(() => {
      const version = database.pragma('user_version', { simple: true }) as number;
      if (version > migrations.length) {
        throw new Failure(
          'history_version_unsupported',
          'The run history was written by a newer StarPO Studio.',
          'Update StarPO Studio, or choose another data folder with --home.',
        );
      }
      for (const migration of migrations.slice(version)) database.exec(migration);
      database.pragma(`user_version = ${migrations.length}`);
    })
    .immediate();
}
