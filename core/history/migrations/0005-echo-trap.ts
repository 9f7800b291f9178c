/** Up to which event the Echo Trap's monitor has looked at a run, and where it stands then, what was done about its alarms, and what runs were made from. */
export const sql = `
ALTER TABLE runs ADD COLUMN parent TEXT;

CREATE TABLE echo_trap (
  run TEXT PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  state TEXT,
  since INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE reactions (
  run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  id TEXT NOT NULL,
  alert TEXT,
  begun_at REAL NOT NULL,
  changed_at REAL NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;
`;
