import type { StudySummary } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty, Progress } from '../../components/basics.tsx';
import { ago } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { numeric, TableHead } from '../../components/table-head.tsx';
import { stateLabels, useBaseTitle } from './labels.ts';
import styles from './studies-page.module.css';
import { useStudies } from './use-studies.ts';

const newStudy = formatRoute({ page: 'new', from: { preset: null }, study: true });

export function StudiesPage() {
  const { studies, failed } = useStudies();
  useTitle('Sweeps');
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>Sweeps</h1>
          <p className="muted">Compare settings over several seeds.</p>
        </div>
        <a className="button" data-kind="primary" href={newStudy}>
          <Icon name="plus" size={14} /> New sweep
        </a>
      </header>
      {studies === null && <Empty title={failed ? "Can't read the sweeps" : 'Loading sweeps…'} />}
      {studies?.length === 0 && (
        <Empty title="No sweeps yet">
          <p>A sweep trains every combination of the values you choose and compares the results.</p>
        </Empty>
      )}
      {studies && studies.length > 0 && <StudyList studies={[...studies].reverse()} />}
    </div>
  );
}

function StudyList({ studies }: { studies: StudySummary[] }) {
  const now = Date.now();
  return (
    <div className="panel table-panel">
      <table className="table" aria-label="Sweeps">
        <TableHead columns={['Sweep', 'State', 'Runs completed', 'Settings', numeric('Seeds'), 'Created']} />
        <tbody>
          {studies.map((study) => (
            <Row key={study.id} study={study} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Maximum number of settings shown. */
const maxSettings = 3;

function Row({ study, now }: { study: StudySummary; now: number }) {
  const { id, name, base, state, runs, points, seeds, created } = study;
  const baseTitle = useBaseTitle(base);
  const others = points.length - maxSettings;
  return (
    <tr>
      <th scope="row" className={styles.name}>
        <a href={formatRoute({ page: 'study', studyId: id })}>{name}</a>
        <span className={`${styles.base} muted`}>{baseTitle}</span>
      </th>
      <td>
        {stateLabels[state]}
        {runs.failed > 0 && <span className={styles.failed}>{runs.failed} failed</span>}
      </td>
      <td className="table-progress">
        <Progress value={runs.completed / runs.total} label={`Progress of ${name}`} />
        <span className="faint">
          {runs.completed} / {runs.total}
        </span>
      </td>
      <td className={styles.points}>
        {points.slice(0, maxSettings).join('; ')}
        {others > 0 && `; and ${others} more`}
      </td>
      <td className="numeric">{seeds.length}</td>
      <td className="faint">{ago(created, now)}</td>
    </tr>
  );
}
