/** What people say of runs, alerts, and rollouts whose files are gone. */
export const sql = `
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
`;
