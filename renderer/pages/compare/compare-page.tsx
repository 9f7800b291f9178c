import { useMemo, useState } from 'react';
import { sampleRunId } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import { useTitle } from '../../base/title.ts';
import { Empty } from '../../components/basics.tsx';
import { RunChoice } from '../../components/compare-with.tsx';
import { findRun, useApp } from '../../stores/app-store.ts';
import { useSample } from '../../stores/use-sample.ts';
import { useComparedRuns } from '../../views/compared-runs.ts';
import { CompareCharts } from './compare-charts.tsx';
import styles from './compare-page.module.css';
import { type Compared, ComparedList } from './compared-list.tsx';
import { ConfigTable } from './config-table.tsx';

/** Maximum number of runs. With more, lines are hard to distinguish and slow to draw. */
const mostRuns = 60;
const colors = 10;
const dashes = [undefined, 'dashed', 'dotted'] as const;

/** Overlays the metrics of several runs and lists how their configurations differ. */
export function ComparePage({ runIds: asked }: { runIds: readonly string[] }) {
  const runIds = useMemo(() => asked.slice(0, mostRuns), [asked]);
  const known = useApp((state) => state.runs);
  useSample(runIds.includes(sampleRunId));
  const sample = useApp((state) => state.sample);
  const followed = useComparedRuns(runIds);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const compared = useMemo(
    () =>
      followed.flatMap((each): Compared[] => {
        const run = findRun({ runs: known, sample }, each.id);
        const place = runIds.indexOf(each.id);
        const dash = dashes[Math.floor(place / colors) % dashes.length];
        return run ? [{ ...each, run, color: `run-${(place % colors) + 1}`, ...(dash && { dash }) }] : [];
      }),
    [followed, known, sample, runIds],
  );
  const gone = known ? runIds.filter((id) => id !== sampleRunId && !known.some((run) => run.id === id)) : [];
  const title = `Compare ${compared.length} run${compared.length === 1 ? '' : 's'}`;
  useTitle(title);

  const remove = (id: string) =>
    navigate({ page: 'compare', runIds: runIds.filter((each) => each !== id) }, true);
  const toggle = (id: string) =>
    setHidden((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  return (
    <div className={`page ${styles.page}`}>
      <header className={styles.head}>
        <h1>{compared.length > 0 ? title : 'Compare runs'}</h1>
        <span className="spacer" />
        <RunChoice
          label="Add a run…"
          without={runIds}
          onChoose={(id) => navigate({ page: 'compare', runIds: [...runIds, id] }, true)}
        />
      </header>
      {asked.length > mostRuns && (
        <p className={styles.gone} role="status">
          Comparing the first {mostRuns} of {asked.length} runs.
        </p>
      )}
      {gone.length > 0 && (
        <p className={styles.gone} role="status">
          {gone.length === 1
            ? '1 run was not found. It may have been deleted.'
            : `${gone.length} runs were not found. They may have been deleted.`}
        </p>
      )}
      {compared.length === 0 && gone.length === runIds.length ? (
        <Empty title="No runs to compare">Add two or more runs to overlay their metrics.</Empty>
      ) : (
        <>
          <ComparedList compared={compared} hidden={hidden} onToggle={toggle} onRemove={remove} />
          <CompareCharts compared={compared} hidden={hidden} />
          <ConfigTable compared={compared} />
        </>
      )}
    </div>
  );
}
