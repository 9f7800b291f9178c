import { escaped } from '../contract/markup.ts';
import { windowOf } from './collapse-rule.ts';
import type { LabeledRun } from './labeled-runs.ts';

/** Draws labeled runs with the alarms of several methods. */

interface ChartedRun {
  run: Pick<LabeledRun, 'name' | 'collapsed' | 'kind' | 'points' | 'config'>;
  /** Last iteration. */
  last: number;
  /** Alarms by method, in legend order. */
  alarms: Record<string, readonly number[]>;
}

const left = 250;
const right = 24;
const plot = 720;
const top = 64;
const lane = 9;
const gap = 12;
const colors = ['#1f6feb', '#9a6700', '#8250df', '#57606a'];

/**
 * Returns a standalone SVG with one row per run, collapsed runs first by onset: success as a faint line, a shaded area after the onset, and a lane of
 * alarms per method.
 */
export function alarmChart(runs: readonly ChartedRun[], title: string): string {
  const methods = Object.keys(runs[0]?.alarms ?? {});
  const longest = Math.max(1, ...runs.map(({ last }) => last));
  const x = (iteration: number) => (left + (plot * iteration) / longest).toFixed(1);
  const rowHeight = methods.length * lane + gap;
  const never = Number.POSITIVE_INFINITY;
  const rows = runs.toSorted(
    (a, b) => (a.run.collapsed ?? never) - (b.run.collapsed ?? never) || a.run.name.localeCompare(b.run.name) || 0,
  );
  const height = top + rows.length * rowHeight + 30;
  const text = (at: string, y: number, words: string, more = '') =>
    `<text x="${at}" y="${y}" ${more}>${escaped(words)}</text>`;
  const legend = methods.map((method, i) => {
    const at = left + i * 150;
    return `<rect x="${at}" y="34" width="3" height="10" fill="${colors[i % colors.length]}"/>${text(String(at + 8), 43, method)}`;
  });
  const step = longest > 250 ? 100 : 50;
  const ticks = Array.from({ length: Math.floor(longest / step) + 1 }, (_, i) => i * step);
  const axis = ticks.map(
    (iteration) =>
      `<line x1="${x(iteration)}" x2="${x(iteration)}" y1="${top - 6}" y2="${height - 24}" stroke="#d0d7de"/>${text(x(iteration), height - 8, String(iteration), 'text-anchor="middle" fill="#57606a"')}`,
  );
  const drawn = rows.map((row, index) => drawRow(row, top + index * rowHeight));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + plot + right}" height="${height}" viewBox="0 0 ${left + plot + right} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#1f2328">
<rect width="100%" height="100%" fill="#ffffff"/>
${text('12', 22, title, 'font-size="14" font-weight="600"')}
${legend.join('\n')}
${text(String(left + methods.length * 150), 43, 'shaded: after the onset', 'fill="#57606a"')}
${axis.join('\n')}
${drawn.join('\n')}
</svg>
`;

  function drawRow({ run, last, alarms }: ChartedRun, y: number): string {
    const lanes = methods.length * lane;
    const outcome = run.collapsed === null ? run.kind : `${run.kind}, onset ${run.collapsed}`;
    const shade =
      run.collapsed === null
        ? ''
        : `<rect x="${x(run.collapsed)}" y="${y}" width="${(Number(x(last)) - Number(x(run.collapsed))).toFixed(1)}" height="${lanes}" fill="#ffebe9"/>`;
    const marks = methods.flatMap((method, i) =>
      alarms[method]!.map(
        (iteration) =>
          `<rect x="${x(iteration)}" y="${y + i * lane}" width="3" height="${lane - 1}" fill="${colors[i % colors.length]}"/>`,
      ),
    );
    return `<g>${shade}<rect x="${x(0)}" y="${y}" width="${(Number(x(last)) - left).toFixed(1)}" height="${lanes}" fill="none" stroke="#d0d7de"/>
${success(run, y, lanes)}${marks.join('')}${text('12', y + 12, shortened(run.name))}${text('12', y + 25, outcome, 'fill="#57606a"')}</g>`;
  }

  /** Draws success averaged over the collapse rule's window, from 0 at the bottom of the row to 1 at the top. */
  function success({ points, config }: ChartedRun['run'], y: number, lanes: number): string {
    const groups = (config as { rollout?: { groups?: number } } | null)?.rollout?.groups ?? 8;
    const values = points.flatMap(({ iteration, metrics }) => {
      const value = metrics['rollout/success_rate'];
      return typeof value === 'number' && Number.isFinite(value) ? { iteration, value } : [];
    });
    const wide = windowOf(groups);
    const line = values.slice(wide - 1).map(({ iteration }, i) => {
      const mean = values.slice(i, i + wide).reduce((sum, { value }) => sum + value, 0) / wide;
      return `${x(iteration)},${(y + lanes * (1 - mean)).toFixed(1)}`;
    });
    return line.length < 2
      ? ''
      : `<polyline points="${line.join(' ')}" fill="none" stroke="#8c959f" stroke-width="1.2"/>`;
  }
}

/** Shortens a name to fit beside the plot. */
const shortened = (name: string) => (name.length <= 38 ? name : `${name.slice(0, 37)}…`);
