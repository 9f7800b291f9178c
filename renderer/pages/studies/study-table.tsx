import { collapseInWords } from '../../../core/contract/collapse-words.ts';
import type { Estimate, FormField, Settings, StudyCell, StudyRow } from '../../../core/contract/contract.ts';
import { iterationsInWords, lastIterationsTitle, spreadInWords } from '../../../core/contract/study-words.ts';
import { formatRoute } from '../../base/routes.ts';
import { statusLabel } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { numeric, TableHead } from '../../components/table-head.tsx';
import { useApp } from '../../stores/app-store.ts';
import { valueText } from '../../stores/draft.ts';
import { useQuery } from '../../stores/use-query.ts';
import { originOf } from '../../views/use-parent.ts';
import { divideChanges } from './shared-changes.ts';
import styles from './study-table.module.css';

/** Results per setting: means over completed runs, with 95 % intervals for three or more seeds, and links to the runs. */
export function StudyTable({ rows }: { rows: readonly StudyRow[] }) {
  const form = useQuery('configs.form', {}, 0).value;
  const fields = form
    ? [...form.sections, form.environment, ...Object.values(form.types)].flatMap((section) => section.fields)
    : [];
  const { shared, own } = divideChanges(rows);
  const collapses = rows.some(({ collapse }) => collapse);
  return (
    <div className="panel table-panel">
      <table className={`table ${styles.results}`} aria-label="Settings">
        <TableHead
          columns={[
            'Settings',
            'Seeds',
            numeric('Iterations per run'),
            numeric('Before'),
            numeric('After'),
            numeric(lastIterationsTitle(rows)),
            ...(collapses ? ['Collapsed'] : []),
          ]}
        />
        <tbody>
          {rows.map(({ name, set, cells, before, after, training, collapse }) => (
            <tr key={name}>
              <th scope="row" className={styles.point}>
                {name}
                {form && <span className={styles.changes}>{changesBeyond(name, own(set), fields)}</span>}
              </th>
              <td>
                <span className={`${styles.seeds} wrap`}>
                  {cells.map((cell) => (
                    <Seed key={cell.seed} cell={cell} />
                  ))}
                </span>
                <Forks cells={cells} />
              </td>
              <td className="numeric">{iterationsInWords(cells)}</td>
              <Mean estimate={before} />
              <Mean estimate={after} />
              <Mean estimate={training} />
              {collapses && <Collapse collapse={collapse} />}
            </tr>
          ))}
        </tbody>
      </table>
      {form && Object.keys(shared).length > 0 && (
        <p className={`${styles.meaning} muted small`}>All settings: {changesText(shared, fields)}.</p>
      )}
      {rows.some(({ cells }) => cells.some(stoppedEarly)) && (
        <p className={`${styles.meaning} muted small`}>Runs that stopped early count as completed.</p>
      )}
      {collapses && (
        <p className={`${styles.meaning} muted small`}>
          A run has collapsed once its success is below half of its peak, even if it recovers later. Template: responses
          keep their format. Chaos: they lose it. Locked: nearly the same reasoning on every level, and success stalls.
          Declining: between a fifth and a half is lost. Only completed runs that are long enough count. Intervals are
          95 % Wilson intervals.
        </p>
      )}
    </div>
  );
}

/** Returns a row's settings as text, or '' if the app named the row after them. */
function changesBeyond(name: string, set: Settings, fields: readonly FormField[]): string {
  const text = changesText(set, fields);
  return text.replaceAll(': ', ' ').replaceAll('; ', ', ') === name ? '' : text;
}

/** Describes settings: `Upper clip range: 0.28`. Settings without a form field keep their key. */
function changesText(set: Settings, fields: readonly FormField[]): string {
  return Object.entries(set)
    .map(([path, value]) => {
      const field = fields.find((each) => each.path === path.replace(/^environments\.[^.]+/, 'environments[]'));
      return field ? `${field.title}: ${valueText(value, field)}` : `${path}: ${value}`;
    })
    .join('; ');
}

/** Forks of the sweep's runs, for example after a roll-back. They don't count in the table. */
function Forks({ cells }: { cells: readonly StudyCell[] }) {
  const runs = useApp((state) => state.runs) ?? [];
  const ids = cells.map(({ runId }) => runId);
  const forks = runs.filter(({ parent, study }) => parent && ids.includes(parent.run) && !study);
  if (forks.length === 0) return null;
  return (
    <span className={`${styles.forks} wrap muted small`}>
      Not counted:{' '}
      {forks.map(({ id, name, parent }) => {
        const from = originOf(parent)?.iteration;
        return (
          <a key={id} href={formatRoute({ page: 'run', runId: id })}>
            {name}
            {from !== undefined && `, from iteration ${from}`}
          </a>
        );
      })}
    </span>
  );
}

const stoppedEarly = ({ status, finished }: StudyCell) => status === 'stopped' && finished;

function seedStatus(cell: StudyCell): string {
  if (stoppedEarly(cell)) return 'Stopped early';
  return cell.status === 'missing' ? 'Not created' : statusLabel(cell.status);
}

function Seed({ cell }: { cell: StudyCell }) {
  const { runId, seed, status } = cell;
  const dot = <span className="status-dot" data-status={status} aria-hidden="true" />;
  const label = `Seed ${seed}: ${seedStatus(cell)}`;
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
  return (
    <td className="numeric">
      {percent(estimate.mean)}
      <span className={`faint ${styles.interval}`}>
        {spreadInWords(estimate, (share) => percent(share, 0)).replace('n = ', 'n\u00a0=\u00a0')}
      </span>
    </td>
  );
}

function Collapse({ collapse }: { collapse: StudyRow['collapse'] }) {
  if (!collapse) return <td>–</td>;
  const { count, from, kinds } = collapseInWords(collapse);
  return (
    <td className={styles.point}>
      {count}
      <span className={`faint ${styles.interval}`}>
        {percent(collapse.low, 0)} to {percent(collapse.high, 0)}
      </span>
      {from !== null && <span className={styles.changes}>{from}</span>}
      <span className={styles.changes}>{kinds}</span>
    </td>
  );
}
