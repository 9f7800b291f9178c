import type { SystemInfo } from '../../core/contract/contract.ts';
import { ErrorNote } from './basics.tsx';

type TrainerState = SystemInfo['trainer'];

/** What a trainer that the set-up is still building is waited for with; null where it isn't built just now. */
export function buildingText(trainer: TrainerState | undefined): string | null {
  if (!trainer?.building) return null;
  const { done, total } = trainer.building;
  return total === 0 ? 'The trainer is being built' : `The trainer is being built: ${done} of ${total} files`;
}

/** Why nothing can be started, where that is so. */
export function TrainerNotice({ trainer }: { trainer: TrainerState | undefined }) {
  if (!trainer?.problem) return null;
  const building = buildingText(trainer);
  if (building)
    return (
      <div className="note" data-kind="info" role="status">
        <div className="note-body">
          <p className="note-title">{building}</p>
          <progress
            aria-label="Files of the trainer compiled"
            value={trainer.building?.done}
            max={trainer.building?.total || 1}
          />
          <p>Runs can be started as soon as it is there. What is listed here can be looked at meanwhile.</p>
        </div>
      </div>
    );
  return (
    <ErrorNote
      error={{
        code: 'trainer_unavailable',
        message: 'The trainer can’t be started.',
        hint: trainer.problem,
      }}
    />
  );
}
