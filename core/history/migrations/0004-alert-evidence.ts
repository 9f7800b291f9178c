/** What an alert rests on, as JSON; null in those of earlier versions. */
export const sql = `
ALTER TABLE alerts ADD COLUMN evidence TEXT;
`;
