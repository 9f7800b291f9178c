import type { Evaluation } from '../../../../core/contract/contract.ts';
import { shortHash } from '../../../../core/contract/panel-words.ts';
import { useApi } from '../../../api/context.ts';
import { formatRoute } from '../../../base/routes.ts';
import { Button, CodeDetails, Progress } from '../../../components/basics.tsx';
import { duration, number, percent } from '../../../components/format.ts';
import { Interval } from '../../../components/interval.tsx';
import { actions, numeric, TableHead } from '../../../components/table-head.tsx';
import { environmentTitle } from '../../../environments/registry.ts';
import { useApp } from '../../../stores/app-store.ts';

interface EvaluationListProps {
  runId: string;
  /** Newest first. */
  evaluations: readonly Evaluation[];
}

export function EvaluationList({ runId, evaluations }: EvaluationListProps) {
  return (
    <div className="evaluation-list">
      <table className="table">
        <TableHead
          columns={[
            'Environment',
            numeric('Checkpoint'),
            numeric('Levels, panel'),
            'Success, 95 % interval',
            numeric('Reward'),
            actions,
          ]}
        />
        <tbody>
          {evaluations.map((evaluation) => (
            <Row key={evaluation.name} runId={runId} evaluation={evaluation} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ runId, evaluation }: { runId: string; evaluation: Evaluation }) {
  const { name, state, checkpoint, label, levels, panel, metrics } = evaluation;
  // The number of levels has a column of its own.
  const changes = evaluation.changes.filter((change) => !change.startsWith('levels='));
  return (
    <tr>
      <th scope="row" title={name}>
        {environmentTitle(label)} {changes.length > 0 && <span className="faint">{changes.join(', ')}</span>}
        {evaluation.warnings?.map((warning) => (
          <span key={warning} className="evaluation-warning small" role="note">
            {warning}
          </span>
        ))}
      </th>
      <td className="numeric">{checkpoint}</td>
      <td className="numeric" title={panel === null ? undefined : `Panel ${panel}`}>
        {levels} {panel !== null && <span className="faint">{shortHash(panel)}</span>}
      </td>
      {state === 'done' && metrics ? (
        <>
          <td>
            <span className="evaluation-success">
              <strong>{percent(metrics.success_rate ?? Number.NaN)}</strong>
              {metrics.success_rate !== undefined &&
                metrics.success_rate_low !== undefined &&
                metrics.success_rate_high !== undefined && (
                  <Interval
                    value={metrics.success_rate}
                    low={metrics.success_rate_low}
                    high={metrics.success_rate_high}
                  />
                )}
            </span>
          </td>
          <td className="numeric">{number(metrics.reward_mean ?? Number.NaN)}</td>
          <td className="numeric">
            <a
              href={formatRoute({ page: 'replay', runId, evaluation: name, episodeId: null })}
              aria-label={`Replay ${name}`}
            >
              Replay
            </a>
          </td>
        </>
      ) : (
        <Unfinished runId={runId} evaluation={evaluation} />
      )}
    </tr>
  );
}

function Unfinished({ runId, evaluation }: { runId: string; evaluation: Evaluation }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const { name, done, levels, etaSeconds, failure } = evaluation;
  if (failure) {
    return (
      <td colSpan={3} className="evaluation-failure">
        {failure.message} <span className="faint">{failure.hint}</span>
        <CodeDetails code={failure.code} />
      </td>
    );
  }
  return (
    <>
      <td colSpan={2}>
        <span className="evaluation-progress row">
          <Progress value={done / levels} label={`Progress of ${name}`} />
          <span className="faint">
            {done} of {levels}
            {etaSeconds !== null && `, about ${duration(etaSeconds)} left`}
          </span>
        </span>
      </td>
      <td className="numeric">
        <Button
          writes
          kind="quiet"
          label={`Cancel ${name}`}
          onClick={() => api.call('evaluations.cancel', { runId, name }).catch(report)}
        >
          Cancel
        </Button>
      </td>
    </>
  );
}
