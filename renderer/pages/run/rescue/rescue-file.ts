import { element, escapedXml, type Picture, toSvg } from '../../../charts/svg.ts';
import { type Story, sideTitles } from './story.ts';

/** A rescue's content, as saved to a file. */
export interface Report {
  /** Name of the run that was rolled back. */
  run: string;
  story: Story;
  charts: readonly Picture[];
  /** Returns a custom property of the style sheets. */
  color: (name: string) => string;
}

const titleOf = ({ run }: Report): string => `Rescue of ${run}`;

const width = 960;
const margin = 24;
const chartHeight = 340;
const lineHeight = 20;
/** Left edges of the table's columns and of the steps' texts. */
const columns = [margin, 340, 650];
const stepLeft = 160;
/** Approximate width of a letter of 13 pixels. */
const letterWidth = 6.7;

/** Returns the report as an SVG document with its size. */
export function rescueSvg(report: Report): { svg: string; width: number; height: number } {
  const { story, charts, color } = report;
  const parts: string[] = [];
  let y = 0;
  const text = (content: string, x: number, more: Record<string, string | number> = {}) =>
    parts.push(element('text', { x, y, fill: color('text'), 'font-size': 13, ...more }, escapedXml(content)));
  const paragraph = (content: string, x: number, more?: Record<string, string | number>) => {
    for (const line of wrapped(content, (width - margin - x) / letterWidth)) {
      y += lineHeight;
      text(line, x, more);
    }
  };
  y = 36;
  text(titleOf(report), margin, { 'font-size': 20, 'font-weight': 600 });
  paragraph(story.result, margin, { 'font-weight': 600 });
  y += 8;
  for (const [name, content] of story.steps) {
    const top = y;
    paragraph(content, stepLeft);
    const bottom = y;
    y = top + lineHeight;
    text(name, margin, { fill: color('text-muted') });
    y = bottom;
  }
  y += 16;
  for (const chart of charts) {
    const svg = toSvg(chart, { width, height: chartHeight, color });
    parts.push(element('g', { transform: `translate(0 ${y})` }, svg));
    y += chartHeight;
  }
  y += 8;
  for (const [index, row] of [['', ...sideTitles], ...story.numbers].entries()) {
    y += lineHeight;
    const fill = color(index === 0 ? 'text-muted' : 'text');
    for (const [column, content] of row.entries()) {
      const limit = ((columns[column + 1] ?? width - margin) - columns[column]!) / letterWidth - 1;
      text(cut(content, limit), columns[column]!, { fill: column === 0 ? color('text-muted') : fill });
    }
  }
  y += 8;
  paragraph(story.note, margin, { fill: color('text-faint') });
  const height = y + margin;
  const background = element('rect', { width, height, fill: color('panel') });
  const attributes = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${attributes} font-family="system-ui, sans-serif">\n${background}\n${parts.join('\n')}\n</svg>\n`;
  return { svg, width, height };
}

/** Breaks a string into lines of at most so many characters, except for longer words. */
function wrapped(text: string, limit: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + 1 + word.length > limit) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

const cut = (text: string, limit: number) =>
  text.length <= limit ? text : `${text.slice(0, Math.max(1, Math.floor(limit) - 1))}…`;

/** Returns the report as a self-contained HTML page without scripts. */
export function rescueHtml(report: Report): string {
  const { story, charts, color } = report;
  const title = escapedXml(titleOf(report));
  const style = `body{max-width:${width}px;margin:32px auto;padding:0 16px;font:16px/1.5 system-ui,sans-serif;color:${color('text')};background:${color('panel')}}
svg{display:block;width:100%;height:auto}dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px}dt,th{color:${color('text-muted')}}dd{margin:0}
table{width:100%;border-collapse:collapse}th,td{padding:6px 12px 6px 0;border-bottom:1px solid ${color('line')};font-weight:400;text-align:left;overflow-wrap:anywhere}`;
  const cells = (tag: 'th' | 'td', scope: string, texts: readonly string[]) =>
    texts.map((text) => `<${tag}${scope}>${escapedXml(text)}</${tag}>`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<p><strong>${escapedXml(story.result)}</strong></p>
<dl>${story.steps.map(([name, text]) => `<dt>${escapedXml(name)}</dt><dd>${escapedXml(text)}</dd>`).join('')}</dl>
${charts.map((chart) => toSvg(chart, { width, height: chartHeight, color })).join('')}
<table>
<thead><tr><td></td>${cells('th', ' scope="col"', sideTitles)}</tr></thead>
<tbody>
${story.numbers.map(([name, ...values]) => `<tr>${cells('th', ' scope="row"', [name])}${cells('td', '', values)}</tr>`).join('\n')}
</tbody>
</table>
<p>${escapedXml(story.note)}</p>
<p><small>Saved by StarPO Studio.</small></p>
</body>
</html>
`;
}
