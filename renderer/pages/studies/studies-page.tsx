import type { StudySummary } from '../../../core/contract/contract.ts';
import { Empty, Progress } from '../../components/basics.tsx';
import { ago } from '../../components/format.ts';
import { formatRoute } from '../../router.ts';
import { stateWords } from './state-words.ts';
import { useStudies } from './use-studies.ts';

export function StudiesPage() {
  const studies = useStudies();
  return (
    <div className="page">
      <header className="section-head">
        <h1>Studies</h1>
        <p className="muted">Settings that differ in what is studied, each trained by several seeds.</p>
      </header>
      {studies?.length === 0 && (
        <Empty title="No studies yet">
          <p>
            <code>starpo study new FILE</code> makes one of a file that names points and seeds.
          </p>
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
      <table className="table" aria-label="Studies">
        <thead>
          <tr>
            <th scope="col">Study</th>
            <th scope="col">State</th>
            <th scope="col">Runs complete</th>
            <th scope="col">Points</th>
            <th scope="col" className="numeric">
              Seeds
            </th>
            <th scope="col">Made</th>
          </tr>
        </thead>
        <tbody>
          {studies.map(({ id, name, base, state, runs, points, seeds, created }) => (
            <tr key={id}>
              <th scope="row">
                <a href={formatRoute({ page: 'study', studyId: id })}>{name}</a>
                <span className="faint table-sub">{base}</span>
              </th>
              <td>{stateWords[state]}</td>
              <td className="table-progress">
                <Progress value={runs.completed / runs.total} label={`Progress of ${name}`} />
                <span className="faint">
                  {runs.completed} / {runs.total}
                </span>
              </td>
              <td>{points.join(', ')}</td>
              <td className="numeric">{seeds.length}</td>
              <td className="faint">{ago(created, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
