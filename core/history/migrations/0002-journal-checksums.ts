/**
 * The ingested part of each journal: its CRC-32, and the file's modification time if nothing followed. They reveal that a journal was edited although
 * its size is the same.
 */
export const sql = `
CREATE TABLE journals (
  run TEXT PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  checksum INTEGER NOT NULL,
  modified REAL
) STRICT, WITHOUT ROWID;
`;
