/** A run that took another's configuration alone was kept like one that went on from that one's start: which of the two it is, run.json says again. */
export const sql = `
UPDATE runs SET parent = NULL WHERE json_extract(parent, '$.iteration') = 0;
`;
