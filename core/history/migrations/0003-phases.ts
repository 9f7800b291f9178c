/** Where trainers were leaves no rows; their longest silences, which were read off them, are kept with the runs. */
export const sql = `
ALTER TABLE runs ADD COLUMN gap REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN gap_before REAL NOT NULL DEFAULT 0;
DELETE FROM events WHERE type = 'phase';
`;
