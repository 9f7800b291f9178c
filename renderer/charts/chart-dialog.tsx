import { Dialog } from '@base-ui/react/dialog';
import { Button, IconButton } from '../components/basics.tsx';
import { ScrollingRegion } from '../components/scrolling-region.tsx';
import { numeric, TableHead } from '../components/table-head.tsx';
import { Chart, type ChartItem } from './chart.tsx';
import { useExport } from './chart-actions.tsx';
import styles from './chart-dialog.module.css';
import { useCharts, useChartsStore } from './charts-view.tsx';
import { nearestAt } from './layout.ts';
import type { ChartMark } from './marks.ts';
import { useChartPreferences } from './preferences.ts';
import { tipAt } from './tooltip.ts';
import { readingAt, seriesOf, type Trace } from './traces.ts';
import { useVersion } from './use-version.ts';

interface DialogProps {
  item: ChartItem;
  marks: readonly ChartMark[];
  subtitle: string;
  onClose: () => void;
}

/** Enlarges one chart and lists its newest values. */
export function ChartDialog({ item, marks, subtitle, onClose }: DialogProps) {
  const { spec } = item;
  const { log, toggleLog } = useChartPreferences();
  const save = useExport(item, marks, subtitle);
  // Leaves space for the title and the table.
  const height = Math.max(240, innerHeight - 430);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={`${styles.dialog} column`}>
          <header className={`${styles.head} row wrap`}>
            <div>
              <Dialog.Title className={styles.title}>{spec.title}</Dialog.Title>
              <Dialog.Description className={styles.meaning}>
                {[[subtitle, spec.unit].filter(Boolean).join(', '), spec.meaning].filter(Boolean).join(': ')}
              </Dialog.Description>
            </div>
            <button
              type="button"
              className="toggle"
              aria-pressed={log.includes(spec.id)}
              onClick={() => toggleLog(spec.id)}
            >
              Logarithmic
            </button>
            <Button onClick={() => save('png')} icon="export">
              PNG
            </Button>
            <Button onClick={() => save('svg')}>SVG</Button>
            <Button onClick={() => save('csv')}>CSV</Button>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
          <Chart {...item} marks={marks} height={height} legend />
          <CrossHair item={item} />
          <Newest item={item} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Moves the cross-hair with the keyboard, along the points of the densest line. */
function CrossHair({ item: { spec, traces, axis } }: { item: ChartItem }) {
  const store = useChartsStore();
  const cursor = useCharts((state) => state.cursor);
  const smoothing = useChartPreferences((state) => state.smoothing);
  const longest = useVersion(traces, true, () =>
    traces.reduce((most, trace) => (lengthOf(trace) > lengthOf(most) ? trace : most), traces[0]!),
  );
  const series = seriesOf(longest);
  if (!series || series.length < 2) return null;
  const positions = longest.positions.of(series);
  const last = positions.length - 1;
  const at = cursor === null ? last : nearestAt(positions, cursor);
  const { title, lines } = tipAt(spec, traces, axis, positions[at]!, smoothing);
  const description = [title, ...lines.map(({ label, value, notes }) => [label, value, ...notes].join(' '))];
  return (
    <label className={`${styles.crossHair} row muted small`}>
      <span>Values at</span>
      <input
        type="range"
        min={0}
        max={last}
        value={at}
        aria-valuetext={description.join('; ')}
        onChange={({ target }) => store.getState().setCursor(positions[Number(target.value)]!, null)}
        onBlur={() => store.getState().setCursor(null, null)}
      />
      <output>{cursor === null ? 'newest' : title}</output>
    </label>
  );
}

const lengthOf = (trace: Trace) => seriesOf(trace)?.length ?? 0;

function Newest({ item: { spec, traces } }: { item: ChartItem }) {
  const smoothing = useChartPreferences((state) => state.smoothing);
  const rows = useVersion(traces, true, () => traces.flatMap((trace) => readingAt(trace, -1, smoothing) ?? []));
  return (
    <ScrollingRegion className={styles.values} aria-label="Newest values">
      <table className="table">
        <TableHead columns={['Line', numeric('Iteration'), numeric('Measured'), numeric('Smoothed')]} />
        <tbody>
          {rows.map(({ trace, iteration, value, smoothed, band }) => (
            <tr key={trace.id}>
              <th scope="row">
                {trace.label} <code className="faint">{trace.metric}</code>
              </th>
              <td className="numeric">{iteration}</td>
              <td className="numeric">
                {spec.format(value)}
                {band && ` (${spec.format(band.low)} to ${spec.format(band.high)})`}
              </td>
              <td className="numeric">{trace.sparse || smoothing === 0 ? '–' : spec.format(smoothed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollingRegion>
  );
}
