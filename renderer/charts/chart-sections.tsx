import { type ComponentProps, memo, type ReactNode, useMemo, useState } from 'react';
import { count } from '../../core/contract/numbers.ts';
import { Icon } from '../components/icon.tsx';
import { Chart, type ChartItem } from './chart.tsx';
import { ChartActions } from './chart-actions.tsx';
import { ChartDialog } from './chart-dialog.tsx';
import styles from './chart-sections.module.css';
import { isConstant } from './constant.ts';
import { type ChartMark, marksOf } from './marks.ts';
import { useChartPreferences } from './preferences.ts';

export interface ChartGroup {
  id: string;
  title: string;
  items: readonly ChartItem[];
  /** Content after the charts. */
  extra?: ReactNode;
}

interface SectionsProps {
  groups: readonly ChartGroup[];
  marks: readonly ChartMark[];
  /** Selects charts; null shows all. */
  matches: ((item: ChartItem) => boolean) | null;
  /** Name of the run or runs. */
  subtitle: string;
}

/** Index of the last section that is open by default. */
const lastOpen = 1;

/**
 * Collapsible sections of charts: pinned ones first, then the groups. A search shows only matches, with all
 * sections open. Memoized, because run summaries change several times per second.
 */
export const ChartSections = memo(function ChartSections({ groups, marks, matches, subtitle }: SectionsProps) {
  const pins = useChartPreferences((state) => state.pins);
  const targets = useChartPreferences((state) => state.targets);
  const [expanded, setExpanded] = useState<string | null>(null);
  const withTargets = useMemo(
    () => groups.map((group) => ({ ...group, items: group.items.map((item) => withTarget(item, targets)) })),
    [groups, targets],
  );
  const all = useMemo(() => withTargets.flatMap(({ items }) => items), [withTargets]);
  const pinned = pins.flatMap((id) => all.find(({ spec }) => spec.id === id) ?? []);
  const sections: ChartGroup[] = [
    { id: 'pinned', title: 'Pinned', items: pinned },
    ...withTargets.map((group) => ({
      ...group,
      items: group.items.filter((item) => !pinned.includes(item)),
    })),
  ];
  const shown = sections
    .map((group, index) => ({ ...group, openByDefault: index <= lastOpen }))
    .map((group) =>
      matches ? { ...group, items: group.items.filter(matches), extra: undefined, openByDefault: true } : group,
    )
    .filter(({ items, extra }) => items.length > 0 || extra);
  const enlarged = expanded === null ? undefined : all.find(({ spec }) => spec.id === expanded);
  return (
    <>
      {shown.map(({ openByDefault, ...group }) => (
        <Section
          key={group.id}
          group={group}
          openByDefault={openByDefault}
          marks={marks}
          searched={matches !== null}
          subtitle={subtitle}
          onExpand={setExpanded}
        />
      ))}
      {matches && shown.length === 0 && <p className={styles.none}>No matching metrics.</p>}
      {enlarged && (
        <ChartDialog
          item={enlarged}
          marks={marksOf(enlarged.traces, marks)}
          subtitle={subtitle}
          onClose={() => setExpanded(null)}
        />
      )}
    </>
  );
});

/** Adds the user's target line to a chart. */
export function withTarget(item: ChartItem, targets: Readonly<Record<string, number>>): ChartItem {
  const { id, targetOf } = item.spec;
  const value = targets[id] ?? targets[targetOf ?? id];
  if (value === undefined) return item;
  const target = { value, label: `target ${item.spec.format(value)}` };
  return { ...item, references: [...(item.references ?? []), target] };
}

type MarkedChartProps = ComponentProps<typeof ChartActions>;

function MarkedChart({ item, marks, ...actions }: MarkedChartProps) {
  const own = useMemo(() => marksOf(item.traces, marks), [item, marks]);
  return <Chart {...item} marks={own} actions={<ChartActions item={item} marks={own} {...actions} />} />;
}

/** Sections whose charts are always shown. */
const keepsConstant = ['pinned', 'overview'];

interface SectionProps {
  group: ChartGroup;
  openByDefault: boolean;
  marks: readonly ChartMark[];
  searched: boolean;
  subtitle: string;
  onExpand: (chart: string) => void;
}

function Section({ group, openByDefault, marks, searched, subtitle, onExpand }: SectionProps) {
  const { id, title, items, extra } = group;
  const stored = useChartPreferences((state) => state.open[id]);
  const setOpen = useChartPreferences((state) => state.setOpen);
  const size = useChartPreferences((state) => state.size);
  const open = searched || (stored ?? openByDefault);
  const [all, setAll] = useState(false);
  // Decided when the charts change, not their values, so that no chart moves while a run trains.
  const constant = useMemo(() => (keepsConstant.includes(id) ? [] : items.filter(isConstant)), [id, items]);
  const shown = searched || all ? items : items.filter((item) => !constant.includes(item));
  return (
    <section className={styles.section} aria-label={`${title}, charts`}>
      <h3 className={styles.heading}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={open}
          disabled={searched}
          onClick={() => setOpen(id, !open)}
        >
          <Icon name="chevron" size={12} />
          {title}
          <span className={`${styles.count} faint small`}>{items.length}</span>
        </button>
      </h3>
      {open && (
        <div className={styles.grid} data-size={size}>
          {shown.map((item) => (
            <MarkedChart key={item.spec.id} {...{ item, marks, subtitle }} onExpand={() => onExpand(item.spec.id)} />
          ))}
          {extra}
        </div>
      )}
      {open && !searched && constant.length > 0 && (
        <button type="button" className={`${styles.constant} small`} onClick={() => setAll(!all)}>
          {all ? 'Hide' : 'Show'} {count(constant.length, 'constant metric')}
        </button>
      )}
    </section>
  );
}
