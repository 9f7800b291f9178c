import { formatRoute } from '../../router.ts';
import { useApp } from '../../stores/app-store.ts';

/** Several runs over one another. */
export function ComparePage({ runIds }: { runIds: readonly string[] }) {
  const runs = useApp((state) => state.runs);
  const shown = runIds.flatMap((id) => runs?.find((run) => run.id === id) ?? []);
  return (
    <div className="page">
      <h1>Compare</h1>
      <ul>
        {shown.map(({ id, name }) => (
          <li key={id}>
            <a href={formatRoute({ page: 'run', runId: id })}>{name}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}
