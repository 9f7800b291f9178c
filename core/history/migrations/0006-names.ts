/** What people call runs, and what those are trained by. */
export const sql = `
ALTER TABLE runs ADD COLUMN given_name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN algorithm TEXT;
`;
