import type { RunSummary } from '../../../core/contract/contract.ts';
import { panelHashes } from '../../../core/contract/panel-words.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty } from '../../components/basics.tsx';
import { useFirstRows } from '../../components/first-rows.tsx';
import { percent } from '../../components/format.ts';
import { hasPolicy, successOf } from '../../components/run-facts.ts';
import { numeric, TableHead } from '../../components/table-head.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useListedRuns } from '../../stores/app-store.ts';

export function ChooseRunToPlay() {
  const { runs } = useListedRuns();
  const playable = runs?.filter(hasPolicy) ?? [];
  const { shown, more } = useFirstRows(playable);
  useTitle('Play');
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>Play</h1>
          <p className="muted">Play a level alongside an agent you trained. Choose a run.</p>
        </div>
      </header>
      {runs && playable.length === 0 && (
        <Empty title="No run has a checkpoint yet">
          <p>
            <a href={formatRoute({ page: 'start' })}>Start one</a>, then play against it while it trains.
          </p>
        </Empty>
      )}
      {playable.length > 0 && (
        <div className="panel table-panel">
          <table className="table" aria-label="Runs to play against">
            <TableHead columns={['Run', 'Environment', 'Trained', numeric('Success'), 'Panel']} />
            <tbody>
              {shown.map((run) => (
                <Row key={run.id} run={run} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more && <div>{more}</div>}
    </div>
  );
}

/** Returns whether to offer a run: it trains by reinforcement learning and has started. */

function Row({ run }: { run: RunSummary }) {
  const { evaluation } = successOf(run);
  const environments = [...new Set(run.environments)].map(environmentTitle);
  return (
    <tr>
      <th scope="row">
        <a href={formatRoute({ page: 'play', runId: run.id, checkpoint: null })}>{run.name}</a>
      </th>
      <td>{environments.join(', ')}</td>
      <td>
        {run.iteration} of {run.iterations} iterations
      </td>
      <td className="numeric">{evaluation === undefined ? '–' : percent(evaluation)}</td>
      <td>{panelHashes(run.panels) || '–'}</td>
    </tr>
  );
}
