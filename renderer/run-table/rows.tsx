import { type CSSProperties, memo, type ReactNode } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { count } from '../../core/contract/numbers.ts';
import { sentence } from '../../core/contract/sentence.ts';
import { Progress, StatusBadge } from '../components/basics.tsx';
import { dayAndClock, percent } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { shareDone } from '../components/run-facts.ts';
import { stateLabel, toneIcons } from '../components/trap-labels.ts';
import { type Column, cellText, statisticsOf, trapText } from './columns.ts';
import { RunName } from './run-name.tsx';
import styles from './run-table.module.css';

/** Runs under a common heading. */
export interface RowGroup {
  label: string;
  runs: readonly RunSummary[];
  /** Line on the charts. */
  mark?: LineMark | undefined;
}

/** How a run is drawn on charts. `color`: the name of a style variable. */
export interface LineMark {
  color: string;
  dash?: 'dashed' | 'dotted' | undefined;
}

export function TableRow(props: React.ComponentProps<'div'>) {
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
  children?: ReactNode;
}

export function Cell({ name, heading = false, numeric = false, sort, title, children }: CellProps) {
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
  columns: readonly Column[];
  /** Offset in pixels from the first row. */
  top: number;
  width: number;
  template: string;
  chosen: boolean;
  toggle: (id: string, on: boolean) => void;
  verb: string;
  mark: LineMark | undefined;
  menuOf: ((run: RunSummary) => ReactNode) | undefined;
  /** Current minute; a change refreshes the ages. */
  minute: number;
}

/** Memoized, because run updates arrive several times a second and each changes one row. */
export const RunRow = memo(
  function RunRow({ run, index, columns, top, width, template, chosen, toggle, verb, mark, menuOf }: RowProps) {
    return (
      <TableRow
        className={styles.row}
        data-chosen={chosen || undefined}
        aria-rowindex={index + 2}
        style={{ gridTemplateColumns: template, minWidth: width, transform: `translateY(${top}px)` }}
      >
        <Cell name="choose">
          <input
            type="checkbox"
            aria-label={`${verb} ${run.name}`}
            checked={chosen}
            onChange={() => toggle(run.id, !chosen)}
          />
          <Line mark={mark} />
        </Cell>
        <Cell name="name">
          <RunName run={run} starrable={menuOf !== undefined} />
        </Cell>
        {columns.map((column) => (
          <RunCell key={column.id} column={column} run={run} />
        ))}
        {menuOf && <Cell name="menu">{menuOf(run)}</Cell>}
      </TableRow>
    );
  },
  ({ mark: before, ...rest }, { mark: after, ...next }) =>
    before?.color === after?.color &&
    before?.dash === after?.dash &&
    Object.keys(rest).every((key) => rest[key as keyof typeof rest] === next[key as keyof typeof next]),
);

/** Shows a run's line on the charts. */
export const Line = ({ mark }: { mark: LineMark | undefined }) =>
  mark ? (
    <span className={styles.line} data-dash={mark.dash} style={{ color: `var(--${mark.color})` }} aria-hidden="true" />
  ) : null;

function RunCell({ column, run }: { column: Column; run: RunSummary }) {
  const { id, numeric } = column;
  const text = cellText(column, run);
  return (
    <Cell name={id} numeric={numeric} title={titleOf(id, run) ?? text}>
      {drawings[id]?.(run) ?? text}
    </Cell>
  );
}

/** Columns that show more than text. */
const drawings: Record<string, (run: RunSummary) => ReactNode> = {
  status: (run) => <StatusBadge run={run} />,
  trap: (run) => <Trap run={run} />,
  iterations: (run) => (
    <>
      <Progress value={shareDone(run)} label={`Progress of ${run.name}`} status={run.status} />
      <span className="faint">
        {run.iteration} / {run.iterations}
      </span>
    </>
  ),
};

function titleOf(column: string, { startedAt, createdAt, collapse, job }: RunSummary): string | undefined {
  if (column === 'status' && job && job.phase !== 'ended') return sentence(`Its job ${job.text}`);
  if (column === 'started') return startedAt === null ? `Created ${dayAndClock(createdAt)}` : dayAndClock(startedAt);
  if (column === 'trap' && collapse) return collapseText(collapse);
  return undefined;
}

const collapseText = ({ peak, last, warnedAt }: NonNullable<RunSummary['collapse']>) =>
  `${percent(peak.success)} at iteration ${peak.iteration}, ${percent(last.success)} at ${last.iteration}.${
    warnedAt === null ? '' : ` Warned at ${warnedAt}.`
  }`;

/** Shows the state of the Echo Trap monitor, and what a collapsed run lost. */
function Trap({ run }: { run: RunSummary }) {
  const { trap, collapse } = run;
  const text = trapText(run);
  if (text === null) return '–';
  const { tone } = stateLabel(collapse ? 'collapsed' : (trap?.state ?? 'healthy'));
  return (
    <span className={styles.trap} data-tone={tone}>
      <span className={styles.trapState}>
        {tone !== 'calm' && <Icon name={toneIcons[tone]} size={13} />}
        {text}
      </span>
      {collapse && (
        <span className="faint small">
          {percent(collapse.peak.success, 0)} → {percent(collapse.last.success, 0)}
        </span>
      )}
    </span>
  );
}

interface GroupRowProps {
  group: RowGroup;
  index: number;
  style: CSSProperties;
  columns: readonly Column[];
  chosen: ReadonlySet<string>;
  choose: (ids: readonly string[], on: boolean) => void;
  verb: string;
  hasMenu: boolean;
}

/** Heads the runs of a group with the mean and standard deviation of each numeric column. */
export function GroupRow({ group, index, style, columns, chosen, choose, verb, hasMenu }: GroupRowProps) {
  const { label, runs, mark } = group;
  const ids = runs.map(({ id }) => id);
  const all = ids.every((id) => chosen.has(id));
  const some = ids.some((id) => chosen.has(id));
  return (
    <TableRow className={`${styles.row} ${styles.group}`} aria-rowindex={index + 2} style={style}>
      <Cell name="choose">
        <input
          type="checkbox"
          aria-label={`${verb} ${label}`}
          checked={all}
          ref={(box) => {
            if (box) box.indeterminate = some && !all;
          }}
          onChange={() => choose(ids, !all)}
        />
        <Line mark={mark} />
      </Cell>
      <Cell name="name" title={label}>
        <span className={styles.groupName}>
          <span className="ellipsis">{label}</span>
          <span className="faint small">{count(runs.length, 'run')}</span>
        </span>
      </Cell>
      {columns.map((column) => (
        <Cell key={column.id} name={column.id} numeric={column.numeric}>
          {column.numeric && <Statistics column={column} runs={runs} />}
        </Cell>
      ))}
      {hasMenu && <Cell name="menu" />}
    </TableRow>
  );
}

function Statistics({ column, runs }: { column: Column; runs: readonly RunSummary[] }) {
  const found = statisticsOf(column, runs);
  if (!found) return '–';
  const { mean, deviation, count } = found;
  const format = (value: number) => column.text?.(value, runs[0]!) ?? String(value);
  return (
    <span
      className={styles.statistics}
      title={deviation === null ? '1 run' : `Mean and standard deviation of ${count} runs`}
    >
      <span>{format(mean)}</span>
      {deviation !== null && <span className="faint small">± {format(deviation)}</span>}
    </span>
  );
}
