/** `size=6, p=0.9` as settings; what has no `=` is passed on, for core to say what is wrong with it. */
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
