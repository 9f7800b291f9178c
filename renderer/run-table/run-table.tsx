import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { Icon } from '../components/icon.tsx';
import { observeWithFallback } from '../components/observe-with-fallback.ts';
import { type Column, nameWidths, type TableId } from './columns.ts';
import { useRunTables } from './preferences.ts';
import { Cell, GroupRow, type LineMark, type RowGroup, RunRow, TableRow } from './rows.tsx';
import styles from './run-table.module.css';

/** Height of a row and of the head in pixels. */
export const rowHeight = 52;

interface RunTableProps {
  table: TableId;
  label: string;
  columns: readonly Column[];
  /** In display order. Null shows `groups`. */
  runs: readonly RunSummary[];
  groups: readonly RowGroup[] | null;
  chosen: ReadonlySet<string>;
  /** Selects or deselects runs. */
  choose: (ids: readonly string[], on: boolean) => void;
  /** Verb of the checkbox: `Select` or `Compare`. */
  verb: string;
  markOf?: ((runId: string) => LineMark | undefined) | undefined;
  /** True if the table scrolls; false if the page does. */
  scrolls?: boolean;
  menuOf?: ((run: RunSummary) => ReactNode) | undefined;
  /** Shown in place of the column titles, so that selecting a run moves nothing; null shows the titles. */
  selection?: ReactNode;
}

type Item = { run: RunSummary; group?: undefined } | { group: RowGroup; run?: undefined };

/** Shows runs in a virtualized table, with the mean and standard deviation of each group. */
export function RunTable(props: RunTableProps) {
  const {
    table,
    label,
    columns,
    runs,
    groups,
    chosen,
    choose,
    verb,
    markOf,
    scrolls = false,
    menuOf,
    selection = null,
  } = props;
  const items = useMemo(
    (): Item[] =>
      groups
        ? groups.flatMap((group): Item[] => [{ group }, ...group.runs.map((run) => ({ run }))])
        : runs.map((run) => ({ run })),
    [groups, runs],
  );
  const body = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const margin = useMargin(body, scrolls);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: items.length,
    getScrollElement: () => (scrolls ? scroller.current : document.getElementById('main')),
    getItemKey: (index) => items[index]!.run?.id ?? `group ${items[index]!.group?.label}`,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: margin,
    observeElementRect: observeWithFallback,
  });
  const all = runs.length > 0 && runs.every(({ id }) => chosen.has(id));
  const some = runs.some(({ id }) => chosen.has(id));
  const toggle = useCallback((id: string, on: boolean) => choose([id], on), [choose]);
  const layout = gridOf(columns, nameWidths[table], menuOf !== undefined);
  const minute = Math.floor(Date.now() / 60_000);
  const headRow = (
    <TableRow className={`${styles.row} ${styles.head} muted small`} aria-rowindex={1} style={layout}>
      <Cell heading name="choose">
        <input
          type="checkbox"
          aria-label={`${verb} all`}
          checked={all}
          ref={(box) => {
            if (box) box.indeterminate = some && !all;
          }}
          onChange={() =>
            choose(
              runs.map(({ id }) => id),
              !all,
            )
          }
        />
      </Cell>
      <Heading table={table} column={nameColumn} />
      {columns.map((column) => (
        <Heading key={column.id} table={table} column={column} />
      ))}
      {menuOf && (
        <Cell heading name="menu">
          <span className="visually-hidden">Actions</span>
        </Cell>
      )}
    </TableRow>
  );
  const rows = (
    <div ref={body} style={{ height: virtual.getTotalSize(), minWidth: layout.minWidth, position: 'relative' }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const item = items[index]!;
        const style = { ...layout, transform: `translateY(${start - margin}px)` };
        if (item.group)
          return (
            <GroupRow
              key={key}
              {...{ index, style, columns, chosen, choose, verb }}
              group={item.group}
              hasMenu={menuOf !== undefined}
            />
          );
        const { run } = item;
        return (
          <RunRow
            key={key}
            {...{ run, index, columns, toggle, verb, minute }}
            top={start - margin}
            width={layout.minWidth}
            template={layout.gridTemplateColumns}
            chosen={chosen.has(run.id)}
            mark={markOf?.(run.id)}
            menuOf={menuOf}
          />
        );
      })}
    </div>
  );
  return (
    <div
      className={`panel ${styles.panel}`}
      data-scrolls={scrolls || undefined}
      data-stars={menuOf !== undefined || undefined}
      data-selecting={selection !== null || undefined}
    >
      {selection && (
        <div className={styles.overHead}>
          <div className={styles.selection}>{selection}</div>
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a table element can't skip the rows outside the view. */}
      <div role="table" aria-label={label} aria-rowcount={items.length + 1} className={styles.table}>
        {scrolls ? (
          <div ref={scroller} className={styles.scroller}>
            {headRow}
            {rows}
          </div>
        ) : (
          <>
            <div ref={head} className={styles.headClip}>
              {headRow}
            </div>
            <div
              className={styles.sideways}
              onScroll={({ currentTarget }) => {
                if (head.current) head.current.scrollLeft = currentTarget.scrollLeft;
              }}
            >
              {rows}
            </div>
          </>
        )}
      </div>
    </div>
  );
}

const nameColumn = { id: 'name', title: 'Run' };

function gridOf(columns: readonly Column[], nameWidth: number, hasMenu: boolean) {
  const tracks = columns.map(({ width, grow = 0 }) => `minmax(${width}px, ${grow > 0 ? `${grow}fr` : `${width}px`})`);
  return {
    gridTemplateColumns: ['42px', `minmax(${nameWidth}px, 2.2fr)`, ...tracks, ...(hasMenu ? ['40px'] : [])].join(' '),
    minWidth: 42 + nameWidth + columns.reduce((sum, { width }) => sum + width, hasMenu ? 40 : 0),
  };
}

/**
 * Returns the pixels from the top of the page's scrolling element to the rows. Measures when the page's height changes, because measuring
 * after every render would lay out the page several times per frame.
 */
function useMargin(body: RefObject<HTMLElement | null>, scrolls: boolean): number {
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const scrolled = document.getElementById('main');
    const element = body.current;
    if (scrolls || !element || !scrolled) return;
    const measure = () =>
      setMargin(
        Math.round(element.getBoundingClientRect().top - scrolled.getBoundingClientRect().top + scrolled.scrollTop),
      );
    measure();
    const observer = new ResizeObserver(measure);
    for (const content of scrolled.children) observer.observe(content);
    return () => observer.disconnect();
  }, [body, scrolls]);
  return margin;
}

interface HeadingProps {
  table: TableId;
  column: Pick<Column, 'id' | 'title' | 'hint' | 'numeric' | 'descending'>;
}

function Heading({ table, column: { id, title, hint, numeric, descending = false } }: HeadingProps) {
  const sort = useRunTables((state) => state[table].sort);
  const change = useRunTables((state) => state.change);
  const sorted = sort.key === id;
  const next = sorted ? !sort.descending : descending;
  return (
    <Cell
      heading
      name={id}
      numeric={numeric}
      title={hint}
      sort={sorted ? (sort.descending ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" className="ellipsis" onClick={() => change(table, { sort: { key: id, descending: next } })}>
        {title}
        {sorted && <Icon name={sort.descending ? 'down' : 'up'} size={11} />}
      </button>
    </Cell>
  );
}
