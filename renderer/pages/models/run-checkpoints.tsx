import type { RunCheckpoints } from '../../../core/contract/contract.ts';
import { bytes as sizeOf } from '../../../core/contract/numbers.ts';
import { formatRoute } from '../../base/routes.ts';
import { useFirstRows } from '../../components/first-rows.tsx';
import { actions, numeric, TableHead } from '../../components/table-head.tsx';
import styles from './models-page.module.css';
import { ScrollingTable } from './scrolling-table.tsx';

export function RunCheckpointTable({ runs }: { runs: readonly RunCheckpoints[] }) {
  const { shown, more } = useFirstRows(runs);
  return (
    <div className={styles.section}>
      <h2 id="models-runs">Checkpoints</h2>
      <ScrollingTable labelledBy="models-runs">
        <TableHead columns={['Run', numeric('Checkpoints'), 'Iterations', numeric('Weights'), actions]} />
        <tbody>
          {shown.map(({ runId, name, iterations, bytes }) => (
            <tr key={runId}>
              <th scope="row">
                <a href={formatRoute({ page: 'run', runId })}>{name}</a>
              </th>
              <td className="numeric">{iterations.length}</td>
              <td>{iterationsText(iterations.toReversed())}</td>
              <td className="numeric">{sizeOf(bytes)}</td>
              <td className="numeric">
                <a className="button" href={formatRoute({ page: 'play', runId, checkpoint: null })}>
                  Play<span className="visually-hidden"> {name}</span>
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </ScrollingTable>
      {more && <div>{more}</div>}
    </div>
  );
}

/** Lists iterations: `0, 20, 40`, or for more than six the first two and the last. */
const iterationsText = (iterations: readonly number[]) =>
  iterations.length <= 6 ? iterations.join(', ') : `${iterations.slice(0, 2).join(', ')} … ${iterations.at(-1)}`;
