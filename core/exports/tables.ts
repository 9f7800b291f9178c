import { collapseInWords } from '../contract/collapse-words.ts';
import type { Estimate, PanelHash, Study, StudyRow } from '../contract/contract.ts';
import { count, percent } from '../contract/numbers.ts';
import { panelsInBrackets, panelWords } from '../contract/panel-words.ts';
import { evaluatedLabel } from '../contract/run-facts.ts';
import { lastIterationsTitle, spreadInWords } from '../contract/study-words.ts';
import { typeTitle } from '../presets/environment-words.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { csvRow, latexText, markdownText } from './escape.ts';
import type { Point } from './record.ts';

/** A table for papers and pages. Cells are plain text, escaped when written. */
interface PaperTable {
  caption: string;
  head: string[];
  rows: string[][];
}

function estimateText(estimate: Estimate | null): string {
  if (!estimate) return '–';
  return `${percent(estimate.mean)} (${spreadInWords(estimate, percent)})`;
}

/** Returns the results of a sweep, one row per combination of settings. */
export function studyTable({ summary, table }: Study): PaperTable {
  const collapses = table.some(({ collapse }) => collapse);
  const levels = panelWords(
    table.flatMap(({ panels }) => panels),
    summary.environment,
  );
  return {
    caption: `${summary.name}: success in ${typeTitle(summary.environment)}, mean over seeds, with the 95 % Student's t interval for at least three seeds${levels && `, on ${levels}`}. Completed runs: ${summary.runs.completed} of ${summary.runs.total}.`,
    head: [
      ...['Settings', 'Changes', 'Completed', 'Before training', 'After training', lastIterationsTitle(table)],
      ...(collapses ? ['Collapsed (95 % Wilson interval)'] : []),
    ],
    rows: table.map(({ name, set, cells, before, after, training, collapse }) => [
      name,
      Object.entries(set)
        .map(([path, value]) => `${path} = ${value}`)
        .join(', ') || 'none',
      `${cells.filter(({ finished }) => finished).length} of ${cells.length}`,
      ...[before, after, training].map(estimateText),
      ...(collapses ? [collapseText(collapse)] : []),
    ]),
  };
}

/** Formats a sweep's runs as CSV: one row per run, with a column per varied setting. */
export function studyCsv({ summary, table }: Study): string {
  const paths = [...new Set(table.flatMap(({ set }) => Object.keys(set)))];
  const results = ['before', 'after', 'training'] as const;
  const head = [
    'setting',
    ...paths,
    'seed',
    'run',
    'status',
    'iteration',
    'iterations',
    ...results,
    'collapsed',
    'panel',
  ];
  const rows = table.flatMap(({ name, set, cells, panels }) =>
    cells.map((cell) => {
      const { seed, runId, status, iteration, iterations, label } = cell;
      const settings = paths.map((path) => set[path]);
      return [
        ...[name, ...settings, seed, runId, status, iteration, iterations],
        ...results.map((result) => cell[result]),
        label?.collapsed,
        panels.find((each) => each.label === summary.environment)?.hash,
      ];
    }),
  );
  return [head, ...rows].map(csvRow).join('');
}

function collapseText(collapse: StudyRow['collapse']): string {
  if (!collapse) return '–';
  const { count, from, kinds } = collapseInWords(collapse);
  const share = `${count} (${percent(collapse.low)} to ${percent(collapse.high)})`;
  return `${[share, ...(from === null ? [] : [from])].join(', ')}; ${kinds}`;
}

/** Returns the success rates of a run's evaluations, by iteration. `points`: with evaluations. */
export function runTable(
  name: string,
  points: readonly Point[],
  panels: readonly PanelHash[],
  config: RunConfig,
): PaperTable {
  const labels = [...new Set(points.flatMap(({ values }) => evaluatedLabels(values)))].sort();
  return {
    caption: `${name}: success on ${count(config.evaluation.levels, 'fixed level')}${labels.length > 1 ? ' of each environment' : ''}${panelsInBrackets(panels)}, with the 95 % Wilson interval.`,
    head: ['Iteration', ...labels.map(typeTitle)],
    rows: points.map(({ iteration, values }) => [
      String(iteration),
      ...labels.map((label) => successText(values, label)),
    ]),
  };
}

/** Returns the labels of the environments evaluated at an iteration. */
export const evaluatedLabels = (values: Record<string, number>): string[] =>
  Object.keys(values).flatMap((name) => evaluatedLabel(name) ?? []);

/** Returns success with its interval: `74.2 % (68.5 % to 79.2 %)`. */
export function successText(values: Record<string, number>, label: string): string {
  const [rate, low, high] = ['success_rate', 'success_rate_low', 'success_rate_high'].map(
    (name) => values[`evaluation/${label}/${name}`],
  );
  if (rate === undefined) return '–';
  return low === undefined || high === undefined
    ? percent(rate)
    : `${percent(rate)} (${percent(low)} to ${percent(high)})`;
}

/** Formats a table as Markdown. */
export function markdownTable({ caption, head, rows }: PaperTable): string {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownText).join(' | ')} |\n`;
  return `${markdownText(caption)}\n\n${line(head)}|${' --- |'.repeat(head.length)}\n${rows.map(line).join('')}`;
}

/** Formats a table as LaTeX. It requires `\usepackage{booktabs}`. */
export function latexTable({ caption, head, rows }: PaperTable): string {
  const line = (cells: readonly string[]) => `  ${cells.map(latexText).join(' & ')} \\\\\n`;
  return [
    '\\begin{table}\n\\centering\n',
    `\\caption{${latexText(caption)}}\n`,
    `\\begin{tabular}{l${'r'.repeat(head.length - 1)}}\n\\toprule\n`,
    line(head),
    '\\midrule\n',
    ...rows.map(line),
    '\\bottomrule\n\\end{tabular}\n\\end{table}\n',
  ].join('');
}
