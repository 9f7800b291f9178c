/** The hash of the levels of an evaluation (docs/formats/panels.md); null for evaluations of earlier trainers. */
export const sql = `
ALTER TABLE evaluations ADD COLUMN panel TEXT;
`;
