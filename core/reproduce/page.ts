import { escaped } from '../contract/markup.ts';
import { markdownText } from '../exports/escape.ts';

/** A part of a report, written as Markdown and as HTML. Texts are plain. */
export type Block =
  | { heading: string; level: 1 | 2 | 3 }
  | { text: string }
  | { facts: readonly [name: string, value: string][] }
  | { list: readonly string[] }
  | { commands: readonly string[] }
  | { head: readonly string[]; rows: readonly (readonly string[])[] };

export const markdownPage = (blocks: readonly Block[]): string => `${blocks.map(markdownBlock).join('\n\n')}\n`;

function markdownBlock(block: Block): string {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownText).join(' | ')} |`;
  if ('heading' in block) return `${'#'.repeat(block.level)} ${markdownText(block.heading)}`;
  if ('text' in block) return markdownText(block.text);
  if ('facts' in block)
    return block.facts.map(([name, value]) => `- **${markdownText(name)}:** ${markdownText(value)}`).join('\n');
  if ('list' in block) return block.list.map((each) => `- ${markdownText(each)}`).join('\n');
  if ('commands' in block) return `\`\`\`sh\n${block.commands.join('\n')}\n\`\`\``;
  return [line(block.head), `|${' --- |'.repeat(block.head.length)}`, ...block.rows.map(line)].join('\n');
}

const style = `
:root { color-scheme: light dark; --line: #d8dce3; --sunken: #f3f5f8; --muted: #5c6470; }
@media (prefers-color-scheme: dark) { :root { --line: #333a45; --sunken: #1b2029; --muted: #9aa4b2; } }
body { max-width: 1080px; margin: 32px auto; padding: 0 20px; font: 15px/1.5 system-ui, sans-serif; }
h2 { margin-top: 40px; border-top: 1px solid var(--line); padding-top: 20px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; }
dt { color: var(--muted); } dd { margin: 0; }
pre { padding: 10px 14px; overflow-x: auto; background: var(--sunken); border-radius: 6px; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 12px 5px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-weight: 600; }
`;

/** Returns a whole HTML page without scripts and external resources. */
export function htmlPage(title: string, blocks: readonly Block[]): string {
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title><style>${style}</style></head><body>`,
    ...blocks.map(htmlBlock),
    '</body></html>\n',
  ].join('\n');
}

function htmlBlock(block: Block): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`;
  if ('heading' in block) return `<h${block.level}>${escaped(block.heading)}</h${block.level}>`;
  if ('text' in block) return `<p>${escaped(block.text)}</p>`;
  if ('facts' in block)
    return `<dl>${block.facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>`;
  if ('list' in block) return `<ul>${block.list.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>`;
  if ('commands' in block) return `<pre>${escaped(block.commands.join('\n'))}</pre>`;
  return `<div class="table"><table><thead>${cells('th', block.head)}</thead><tbody>${block.rows.map((row) => cells('td', row)).join('')}</tbody></table></div>`;
}
