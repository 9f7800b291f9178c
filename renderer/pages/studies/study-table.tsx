import type { Estimate, StudyCell, StudyRow } from '../../../core/contract/contract.ts';
import { statusWords } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { formatRoute } from '../../router.ts';
import styles from './study-table.module.css';

/** What each point has come to: means over complete runs with 95 % intervals over seeds, and the runs themselves. */
export function StudyTable({ rows }: { rows: readonly StudyRow[] }) {
  return (
    <div className="panel table-panel">
      <table className="table" aria-label="Points">
        <thead>
          <tr>
            <th scope="col">Point</th>
            <th scope="col">Seeds</th>
            <th scope="col" className="numeric">
              Iterations
            </th>
            <th scope="col" className="numeric">
              Before
            </th>
            <th scope="col" className="numeric">
              After
            </th>
            <th scope="col" className="numeric">
              Last 10 iterations
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, set, cells, before, after, training }) => (
            <tr key={name}>
              <th scope="row">
                {name}
                <span className={`faint ${styles.changes}`}>
                  {Object.entries(set)
                    .map(([key, value]) => `${key}=${value}`)
                    .join(' ')}
                </span>
              </th>
              <td>
                <span className={styles.seeds}>
                  {cells.map((cell) => (
                    <Seed key={cell.seed} cell={cell} />
                  ))}
                </span>
              </td>
              <td className="numeric">
                {sum(cells.map(({ iteration }) => iteration))} /{' '}
                {sum(cells.map(({ iterations }) => iterations))}
              </td>
              <Mean estimate={before} />
              <Mean estimate={after} />
              <Mean estimate={training} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function Seed({ cell: { runId, seed, status } }: { cell: StudyCell }) {
  const words = status === 'missing' ? 'Not made' : statusWords[status];
  const dot = <span className="status-dot" data-status={status} aria-hidden="true" />;
  const label = `Seed ${seed}: ${words}`;
  if (status === 'missing')
    return (
      <span className="tag" title={label}>
        {dot} {seed}
      </span>
    );
  return (
    <a className="tag" href={formatRoute({ page: 'run', runId })} title={label} aria-label={label}>
      {dot} {seed}
    </a>
  );
}

function Mean({ estimate }: { estimate: Estimate | null }) {
  if (!estimate) return <td className="numeric">–</td>;
  const { n, mean, low, high } = estimate;
  return (
    <td className="numeric">
      {percent(mean)}
      <span className={`faint ${styles.interval}`}>
        {low === null || high === null ? 'one run' : `${percent(low, 0)} to ${percent(high, 0)}, n ${n}`}
      </span>
    </td>
  );
}
