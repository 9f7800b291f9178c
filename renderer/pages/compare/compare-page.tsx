import { useCallback, useMemo, useState } from 'react';
import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { navigate } from '../../base/router.ts';
import type { RouteOf } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import type { Band } from '../../charts/group-series.ts';
import type { RunGroup } from '../../charts/group-subjects.ts';
import { Empty } from '../../components/basics.tsx';
import { useWidth } from '../../components/use-width.ts';
import { ColumnChoice } from '../../run-table/column-choice.tsx';
import { filterByText } from '../../run-table/filter-text.ts';
import { RunTable } from '../../run-table/run-table.tsx';
import { type SettingsByRun, useSettingsWithSample } from '../../run-table/settings.ts';
import { useGroupings, useTable } from '../../run-table/use-table.ts';
import { useApp } from '../../stores/app-store.ts';
import { useSample } from '../../stores/use-sample.ts';
import { useComparedRuns } from '../../views/compared-runs.ts';
import { CompareCharts, type Compared } from './compare-charts.tsx';
import styles from './compare-page.module.css';
import { CompareToolbar, type Scope } from './compare-toolbar.tsx';
import { ConfigTable } from './config-table.tsx';
import { assignSlots, linesOf } from './lines.ts';

/** Maximum number of runs. With more, lines are hard to distinguish and slow to draw. */
const maxRuns = 60;

type ComparePageProps = Omit<RouteOf<'compare'>, 'page'>;

/** Shows a table of runs beside charts of those that are ticked, and how their configurations differ. */
export function ComparePage({ runIds: requested, group = '', color = '' }: ComparePageProps) {
  const runIds = useMemo(() => requested.slice(0, maxRuns), [requested]);
  const listed = useApp((state) => state.runs);
  const sample = useSample(true);
  const followed = useComparedRuns(runIds);
  const settings = useSettingsWithSample(sample !== null);
  const runs = useMemo(() => [...(listed ?? []), ...(sample ? [sample.summary] : [])], [listed, sample]);
  const [slots, setSlots] = useState(() => assignSlots(new Map(), runIds));
  const assigned = assignSlots(slots, runIds);
  if (assigned !== slots) setSlots(assigned);
  const [band, setBand] = useState<Band>('deviation');
  const ticked = useMemo(() => runIds.flatMap((id) => runs.find((run) => run.id === id) ?? []), [runIds, runs]);
  const { marks, groups } = useMemo(
    () => linesOf(ticked, assigned, group || color, settings),
    [ticked, assigned, group, color, settings],
  );
  const compared = useMemo(
    () =>
      followed.flatMap((each): Compared[] => {
        const run = ticked.find(({ id }) => id === each.id);
        const mark = marks.get(each.id);
        return run && mark ? [{ ...each, run, ...mark }] : [];
      }),
    [followed, ticked, marks],
  );
  const missing = listed ? runIds.filter((id) => id !== sampleRunId && !runs.some((run) => run.id === id)) : [];
  const title = `Compare ${count(ticked.length, 'run')}`;
  useTitle(ticked.length > 0 ? title : 'Compare');

  const go = useCallback(
    (change: Partial<ComparePageProps>) => navigate({ page: 'compare', runIds, group, color, ...change }, true),
    [runIds, group, color],
  );
  const tick = useCallback(
    (ids: readonly string[], on: boolean) => {
      const others = runIds.filter((id) => !ids.includes(id));
      go({ runIds: on ? [...runIds, ...ids.filter((id) => !runIds.includes(id))] : others });
    },
    [go, runIds],
  );
  return (
    <div className="page">
      <h1>{ticked.length > 0 ? title : 'Compare runs'}</h1>
      {requested.length > maxRuns && (
        <p className={styles.missing} role="status">
          Comparing the first {maxRuns} of {requested.length} runs.
        </p>
      )}
      {missing.length > 0 && (
        <p className={styles.missing} role="status">
          {missing.length === 1
            ? '1 run was not found. It may have been deleted.'
            : `${missing.length} runs were not found. They may have been deleted.`}
        </p>
      )}
      <div className={styles.body}>
        <RunsToCompare
          {...{ runs, runIds, settings, marks, tick, band, setBand }}
          group={group}
          color={color}
          loading={listed === null}
          onGroup={(next) => go({ group: next })}
          onColor={(next) => go({ color: next })}
          groups={group ? groups : null}
        />
        <div className={styles.charts}>
          {compared.length === 0 ? (
            <div className="panel">
              {runIds.length > 0 && listed === null ? (
                <Empty title="Loading the runs…" />
              ) : (
                <Empty title="No runs ticked">Tick runs in the table to overlay their metrics.</Empty>
              )}
            </div>
          ) : (
            <CompareCharts
              compared={compared}
              groups={group ? groups : null}
              legend={group === '' ? groups : null}
              band={band}
            />
          )}
          <ConfigTable compared={compared} />
        </div>
      </div>
    </div>
  );
}

interface RunsToCompareProps {
  runs: readonly RunSummary[];
  runIds: readonly string[];
  settings: SettingsByRun | null;
  marks: ReturnType<typeof linesOf>['marks'];
  /** The groups of ticked runs, if runs are grouped. */
  groups: readonly RunGroup[] | null;
  group: string;
  color: string;
  band: Band;
  loading: boolean;
  tick: (ids: readonly string[], on: boolean) => void;
  onGroup: (id: string) => void;
  onColor: (id: string) => void;
  setBand: (band: Band) => void;
}

/** Shows the table of runs: all of them, or those that have been ticked since the page was opened. */
function RunsToCompare(props: RunsToCompareProps) {
  const { runs, runIds, settings, marks, groups: drawn, group, color, loading, tick } = props;
  const { ref, width } = useWidth<HTMLElement>();
  const [text, setText] = useState('');
  const [scope, setScope] = useState<Scope>(runIds.length >= 2 ? 'compared' : 'all');
  const seen = useSeen(runIds);
  const chosen = useMemo(() => new Set(runIds), [runIds]);
  const inScope = useMemo(
    () =>
      runs.filter(({ id, iteration, marks: { archived } }) =>
        scope === 'compared' ? seen.has(id) : chosen.has(id) || (iteration > 0 && !archived),
      ),
    [runs, scope, seen, chosen],
  );
  const found = useMemo(() => filterByText(inScope, text, settings), [inScope, text, settings]);
  const groupings = useGroupings(inScope, settings, [group, color]);
  const { all, columns, sorted, groups } = useTable({
    ...{ table: 'compare', runs: found.runs, width, group, settings },
  });
  const marked = useMemo(
    () =>
      groups?.map((each) => {
        const line = drawn?.find(({ ids }) => each.runs.some(({ id }) => ids.includes(id)));
        return { ...each, mark: line && { color: line.color } };
      }) ?? null,
    [groups, drawn],
  );
  return (
    <>
      <CompareToolbar
        {...{ text, setText, scope, setScope, groupings, group, color }}
        problem={found.problem}
        compared={seen.size}
        onGroup={props.onGroup}
        onColor={props.onColor}
        band={props.band}
        setBand={props.setBand}
      >
        <ColumnChoice table="compare" all={all} shown={columns} />
      </CompareToolbar>
      <section className={styles.side} ref={ref} aria-label="Runs to compare">
        {sorted.length === 0 ? (
          <div className="panel">
            <Empty title={loading ? 'Loading the runs…' : text ? 'No runs match this filter' : 'No runs to compare'}>
              {!loading &&
                !text &&
                (scope === 'compared'
                  ? 'Choose “All runs” and select runs.'
                  : 'Runs appear here after their first iteration.')}
            </Empty>
          </div>
        ) : (
          <RunTable
            {...{ table: 'compare', label: 'Runs', verb: 'Compare', columns, runs: sorted, groups: marked, chosen }}
            choose={tick}
            markOf={(id) => marks.get(id)}
            scrolls
          />
        )}
      </section>
    </>
  );
}

/** Returns the runs that have been ticked since the page was opened, so that unticking a run keeps its row. */
function useSeen(runIds: readonly string[]): ReadonlySet<string> {
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set(runIds));
  if (runIds.some((id) => !seen.has(id))) {
    // Another comparison was opened if no run is left of the previous one.
    const continues = runIds.some((id) => seen.has(id));
    setSeen(new Set([...(continues ? seen : []), ...runIds]));
  }
  return seen;
}
