/** The early-stop rule that ended a run, as a sentence; null for other ends. */
export const sql = `
ALTER TABLE runs ADD COLUMN stop_reason TEXT;
`;
