/** Returns a CSV cell (RFC 4180). An apostrophe before a string that looks like a formula makes spreadsheets treat it as text. */
function csvCell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvRow = (cells: readonly Parameters<typeof csvCell>[0][]) => `${cells.map(csvCell).join(',')}\n`;

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Escapes text for one line or table cell of Markdown. */
export const markdownText = (text: string) =>
  oneLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]|#~$]/g, '\\$&');

const latexSymbols: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '"': '\\textquotedbl{}',
  '|': '\\textbar{}',
};

/** Escapes text for one line or table cell of LaTeX. */
export const latexText = (text: string) =>
  oneLine(text).replaceAll(/[\\~^<>"|{}$&#%_]/g, (symbol) => latexSymbols[symbol] ?? `\\${symbol}`);

/** Returns a YAML value; JSON is valid YAML. */
export const yamlText = (text: string) => JSON.stringify(text);
