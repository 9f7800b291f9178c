import { bytes, count } from '../../../core/contract/numbers.ts';
import { listWithAnd } from '../../../core/contract/sentence.ts';
import { useApi } from '../../api/context.ts';
import { Button, Empty } from '../../components/basics.tsx';
import { ago } from '../../components/format.ts';
import { actions, numeric, TableHead } from '../../components/table-head.tsx';
import { useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { useFollowed } from '../../stores/use-followed.ts';
import styles from './history.module.css';

const day = 86_400_000;

/** Shows deleted runs and sweeps that can be restored, newest first. */
export function TrashTab() {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const [runList, studyList] = [useFollowed('trash.list', {}, 'trash'), useFollowed('studies.trashed', {}, 'trash')];
  const [runs, studies] = [runList.value, studyList.value];
  if (!runs || !studies)
    return <Empty title={runList.failed || studyList.failed ? "Can't read the trash" : 'Loading the trash…'} />;
  if (runs.length + studies.length === 0)
    return (
      <div className="panel">
        <Empty title="The trash is empty">Deleted runs and sweeps are kept here for seven days.</Empty>
      </div>
    );
  const now = Date.now();
  const total = runs.reduce((sum, run) => sum + run.bytes, 0);
  const items = [
    ...runs.map((run) => ({ ...run, kind: 'run', restore: () => api.call('trash.restore', { ids: [run.id] }) })),
    ...studies.map(({ studyId, ...study }) => ({
      ...{ ...study, id: studyId, kind: 'sweep', bytes: null },
      restore: () => api.call('studies.restore', { studyId, ids: [] }),
    })),
  ].sort((a, b) => b.deletedAt - a.deletedAt);
  const counts = [[runs.length, 'deleted run'] as const, [studies.length, 'deleted sweep'] as const];
  const restore = ({ name, restore: call }: (typeof items)[number]) =>
    void call().then(() => notify(`${name} restored.`), report);
  return (
    <>
      <div className={`${styles.bar} row wrap`}>
        <span className="spacer">
          {listWithAnd(counts.flatMap(([number, unit]) => (number > 0 ? [count(number, unit)] : [])))}, {bytes(total)}
        </span>
        <Button
          writes
          icon="trash"
          kind="danger"
          onClick={() => useDialogs.getState().openDialog({ kind: 'empty-trash' })}
        >
          Empty the trash…
        </Button>
      </div>
      <div className="panel">
        <table className="table">
          <TableHead columns={['Name', 'Deleted', 'Kept for', numeric('Disk'), actions]} />
          <tbody>
            {items.map((item) => (
              <tr key={`${item.kind} ${item.id}`}>
                <th scope="row" className={styles.wide}>
                  {item.name} {item.kind === 'sweep' && <span className="tag">sweep</span>}
                </th>
                <td>{ago(item.deletedAt, now)}</td>
                <td>{timeLeft(item.until - now)}</td>
                <td className="numeric">{item.bytes === null ? '' : bytes(item.bytes)}</td>
                <td className="numeric">
                  <Button writes icon="undo" label={`Restore ${item.name}`} onClick={() => restore(item)}>
                    Restore
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function timeLeft(milliseconds: number): string {
  const days = Math.ceil(milliseconds / day);
  return days <= 1 ? 'less than a day' : `${days} more days`;
}
