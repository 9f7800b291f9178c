/** How long trainers worked at a run, in milliseconds: pauses, and the time between two trainers, are none of it. NULL where an earlier version took the run in. */
export const sql = 'ALTER TABLE runs ADD COLUMN taken REAL;';
