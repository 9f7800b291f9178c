/** How long trainers worked at a run, in milliseconds: pauses, and the time between two trainers, are none of it. NULL where an earlier version took the run's events in. */
export const sql = `
ALTER TABLE runs ADD COLUMN taken REAL;
UPDATE runs SET taken = 0 WHERE last_seq = -1;
`;
