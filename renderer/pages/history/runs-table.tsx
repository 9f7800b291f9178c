import { useVirtualizer } from '@tanstack/react-virtual';
import { type Dispatch, memo, type SetStateAction, useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { bytes } from '../../../core/contract/numbers.ts';
import { RunMenu } from '../../commands/run-menu.tsx';
import { Progress, StatusBadge } from '../../components/basics.tsx';
import { ago, dayAndClock, duration, percent } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { observeWithFallback } from '../../components/observe-with-fallback.ts';
import { elapsedSeconds, machineText, shareDone, successOf } from '../../components/run-facts.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { type SortKey, useFilter } from './filter.ts';
import { RunName } from './run-name.tsx';
import styles from './runs-table.module.css';
import type { Sizes } from './use-sizes.ts';

const rowHeight = 52;

interface Column {
  key: SortKey | 'note';
  title: string;
  /** True to right-align numbers. */
  numeric?: boolean;
  /** True if the first click sorts in descending order. */
  descending?: boolean;
}

const columns: readonly Column[] = [
  { key: 'name', title: 'Run' },
  { key: 'environment', title: 'Environment' },
  { key: 'algorithm', title: 'Algorithm' },
  { key: 'status', title: 'Status' },
  { key: 'iterations', title: 'Iterations', descending: true },
  { key: 'success', title: 'Success', numeric: true, descending: true },
  { key: 'started', title: 'Started', descending: true },
  { key: 'duration', title: 'Duration', numeric: true, descending: true },
  { key: 'device', title: 'Device' },
  { key: 'disk', title: 'Disk', numeric: true, descending: true },
  { key: 'note', title: 'Note' },
];

interface TableProps {
  /** In display order. */
  runs: readonly RunSummary[];
  sizes: Sizes;
  chosen: ReadonlySet<string>;
  choose: Dispatch<SetStateAction<ReadonlySet<string>>>;
}

/** Shows a virtualized table. The page scrolls, not the table. */
export function RunsTable({ runs, sizes, chosen, choose }: TableProps) {
  const body = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    setMargin(offsetIn(body.current));
  });
  const virtual = useVirtualizer({
    count: runs.length,
    getScrollElement: () => document.getElementById('main'),
    getItemKey: (index) => runs[index]!.id,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: margin,
    observeElementRect: observeWithFallback,
  });
  const minute = Math.floor(Date.now() / 60_000);
  const all = runs.every(({ id }) => chosen.has(id));
  const some = runs.some(({ id }) => chosen.has(id));
  const toggle = useCallback(
    (id: string) =>
      choose((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [choose],
  );
  return (
    <div className={`panel ${styles.panel}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a table element can't skip the rows outside the view. */}
      <div role="table" aria-label="Runs" aria-rowcount={runs.length + 1}>
        <TableRow className={`${styles.row} ${styles.head} muted small`} aria-rowindex={1}>
          <Cell heading name="choose">
            <input
              type="checkbox"
              aria-label="Select all"
              checked={all}
              ref={(box) => {
                if (box) box.indeterminate = some && !all;
              }}
              onChange={() => choose(all ? new Set() : new Set(runs.map(({ id }) => id)))}
            />
          </Cell>
          {columns.map((column) => (
            <Heading key={column.key} column={column} />
          ))}
          <Cell heading name="menu">
            <span className="visually-hidden">Actions</span>
          </Cell>
        </TableRow>
        <div ref={body} style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const run = runs[index]!;
            return (
              <Row
                key={key}
                run={run}
                index={index}
                top={start - margin}
                disk={sizes.runs.get(run.id)?.total}
                chosen={chosen.has(run.id)}
                toggle={toggle}
                minute={minute}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Pixels from the top of the scrolling element to the top of `element`. */
function offsetIn(element: HTMLElement | null): number {
  const scrolled = document.getElementById('main');
  if (!element || !scrolled) return 0;
  return Math.round(element.getBoundingClientRect().top - scrolled.getBoundingClientRect().top + scrolled.scrollTop);
}

function Heading({ column: { key, title, numeric, descending = false } }: { column: Column }) {
  const { sort, change } = useFilter();
  if (key === 'note')
    return (
      <Cell heading name={key}>
        {title}
      </Cell>
    );
  const sorted = sort.key === key;
  const next = sorted ? !sort.descending : descending;
  return (
    <Cell heading name={key} numeric={numeric} sort={sorted ? (sort.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => change({ sort: { key, descending: next } })}>
        {title}
        {sorted && <Icon name={sort.descending ? 'down' : 'up'} size={11} />}
      </button>
    </Cell>
  );
}

function TableRow(props: React.ComponentProps<'div'>) {
  // biome-ignore lint/a11y/useSemanticElements: its table isn't a table element.
  // biome-ignore lint/a11y/useFocusableInteractive: only the controls in a row are interactive.
  return <div {...props} role="row" />;
}

interface CellProps {
  name: string;
  heading?: boolean;
  numeric?: boolean | undefined;
  sort?: 'ascending' | 'descending' | 'none';
  title?: string | undefined;
  children?: React.ReactNode;
}

function Cell({ name, heading = false, numeric = false, sort, title, children }: CellProps) {
  return (
    <div
      role={heading ? 'columnheader' : name === 'name' ? 'rowheader' : 'cell'}
      className={`${styles.cell} ellipsis`}
      data-column={name}
      data-numeric={numeric || undefined}
      {...(sort && { 'aria-sort': sort })}
      title={title}
    >
      {children}
    </div>
  );
}

interface RowProps {
  run: RunSummary;
  index: number;
  /** Offset in pixels from the first row. */
  top: number;
  disk: number | undefined;
  chosen: boolean;
  toggle: (id: string) => void;
  /** Current minute; a change refreshes the ages. */
  minute: number;
}

/** Memoized, because run updates arrive several times a second and each changes one row. */
const Row = memo(function Row({ run, index, top, disk, chosen, toggle }: RowProps) {
  const now = Date.now();
  const elapsed = elapsedSeconds(run);
  const success = successOf(run).evaluation;
  const environments = run.environments.map(environmentTitle).join(', ');
  return (
    <TableRow
      className={styles.row}
      data-chosen={chosen || undefined}
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)` }}
    >
      <Cell name="choose">
        <input type="checkbox" aria-label={`Select ${run.name}`} checked={chosen} onChange={() => toggle(run.id)} />
      </Cell>
      <Cell name="name">
        <RunName run={run} />
      </Cell>
      <Cell name="environment" title={environments}>
        {environments}
      </Cell>
      <Cell name="algorithm">{run.algorithm}</Cell>
      <Cell name="status">
        <StatusBadge run={run} />
      </Cell>
      <Cell name="iterations">
        <Progress value={shareDone(run)} label={`Progress of ${run.name}`} status={run.status} />
        <span className="faint">
          {run.iteration} / {run.iterations}
        </span>
      </Cell>
      <Cell name="success" numeric title="Latest evaluation">
        {success === undefined ? '–' : percent(success)}
      </Cell>
      <Cell name="started" title={startText(run)}>
        {run.startedAt === null ? '–' : ago(run.startedAt, now)}
      </Cell>
      <Cell name="duration" numeric>
        {elapsed === null ? '–' : duration(elapsed)}
      </Cell>
      <Cell name="device" title={machineText(run)}>
        {machineText(run) || '–'}
      </Cell>
      <Cell name="disk" numeric>
        {disk === undefined ? '…' : bytes(disk)}
      </Cell>
      <Cell name="note" title={run.marks.note || undefined}>
        {run.marks.note}
      </Cell>
      <Cell name="menu">
        <RunMenu run={run} />
      </Cell>
    </TableRow>
  );
});

const startText = ({ startedAt, createdAt }: RunSummary) =>
  startedAt === null ? `Created ${dayAndClock(createdAt)}` : dayAndClock(startedAt);
