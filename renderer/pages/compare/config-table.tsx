import { useMemo } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { leavesOf } from '../../../core/contract/run-details.ts';
import { shortParts } from '../../components/run-facts.ts';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { differences } from '../../run-table/differences.ts';
import type { Compared } from './compare-charts.tsx';
import styles from './compare-page.module.css';

/** Lists the settings in which the runs differ, apart from imported runs, which have none. */
export function ConfigTable({ compared }: { compared: readonly Compared[] }) {
  const loading = compared.some((each) => !each.loaded);
  const loaded = useMemo(
    () => compared.filter(({ config, run }) => config !== null && run.task !== 'imported'),
    [compared],
  );
  const rows = useMemo(() => differences(loaded.map(({ config }) => leavesOf(config))), [loaded]);
  if (loading || loaded.length < 2) return null;
  return (
    <section aria-labelledby="compared-settings">
      <div className="section-head">
        <h2 id="compared-settings">Settings that differ</h2>
        <span className="faint">{rows.length}</span>
      </div>
      <ScrollingRegion className={`panel ${styles.table}`} aria-label="Settings that differ, by run">
        {rows.length === 0 ? (
          <p className={styles.same}>All settings are the same.</p>
        ) : (
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Setting</th>
                {loaded.map(({ id, run, color, dash }) => (
                  <th key={id} scope="col" title={run.name}>
                    <span
                      className={styles.key}
                      data-dash={dash}
                      style={{ color: `var(--${color})` }}
                      aria-hidden="true"
                    />
                    <Name run={run} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ path, title, unit, meaning, values }) => (
                <tr key={path}>
                  <th scope="row">
                    {title}
                    <code className={`${styles.path} muted small`}>{path}</code>
                    {meaning && <span className={`${styles.meaning} faint small`}>{meaning}</span>}
                  </th>
                  {values.map((value, index) => (
                    <td key={loaded[index]!.id} title={value ?? undefined}>
                      {value === null ? <span className="faint">none</span> : withUnit(value, unit)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </ScrollingRegion>
    </section>
  );
}

/** Shows a run's name; the short id is never cut off. */
function Name({ run }: { run: RunSummary }) {
  const { stem, hash } = shortParts(run);
  return (
    <span className={styles.runName}>
      <span className="ellipsis">{stem}</span> {hash && <span className="faint">{hash}</span>}
    </span>
  );
}

/** Adds the unit to numbers only. */
const withUnit = (value: string, unit: string) =>
  unit !== '' && value.trim() !== '' && Number.isFinite(Number(value)) ? `${value} ${unit}` : value;
