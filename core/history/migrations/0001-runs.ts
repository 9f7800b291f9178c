/** Runs with their events, metrics, evaluations and rollouts. */
export const sql = `
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
`;
