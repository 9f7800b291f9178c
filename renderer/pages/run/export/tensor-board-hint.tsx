import { formatRoute } from '../../../router.ts';
import { useApp } from '../../../stores/app-store.ts';

/** Whether the app writes it while runs train, and where. */
export function TensorBoardHint({ runId }: { runId: string }) {
  const tensorBoard = useApp((state) => state.tensorBoard);
  if (!tensorBoard) return null;
  const { on, folder } = tensorBoard;
  const system = <a href={formatRoute({ page: 'system' })}>System</a>;
  if (!on) return <p className="muted">Live, for every run that trains: switch it on under {system}.</p>;
  return (
    <p className="muted">
      While this run trains it is written to <code>{`${folder}/${runId}`}</code>, see {system}.
    </p>
  );
}
