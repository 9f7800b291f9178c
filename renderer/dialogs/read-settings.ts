/** Parses `size=6, p=0.9`. Pieces without `=` get an empty value, which the server rejects with an explanation. */
export function readSettings(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(',')
      .map((piece) => piece.trim())
      .filter(Boolean)
      .map((piece) => {
        const at = piece.indexOf('=');
        return at < 0 ? [piece, ''] : [piece.slice(0, at).trim(), piece.slice(at + 1).trim()];
      }),
  );
}
