/** Texts of models, names and notes on their way into files that other programs interpret. */

/**
 * A cell of a CSV file (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe before it, which the spreadsheet takes for "this is text".
 */
export function csvCell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvRow = (cells: readonly Parameters<typeof csvCell>[0][]) =>
  `${cells.map(csvCell).join(',')}\n`;

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Text within a line or a table of Markdown: nothing in it is markup, HTML or a line's end. */
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
};

/** Text within a line or a table of LaTeX: no command, and no character that has a meaning. */
export const latexText = (text: string) =>
  oneLine(text).replaceAll(/[\\~^<>"{}$&#%_]/g, (symbol) => latexSymbols[symbol] ?? `\\${symbol}`);

/** A value of YAML's front matter: JSON is YAML. */
export const yamlText = (text: string) => JSON.stringify(text);
