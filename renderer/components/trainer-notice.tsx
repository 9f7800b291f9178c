import type { SystemInfo } from '../../core/contract/contract.ts';
import { ErrorNote } from './basics.tsx';

type TrainerState = SystemInfo['trainer'];

/** Describes the trainer's build progress; null if it isn't being built. */
export function buildingText(trainer: TrainerState | undefined): string | null {
  if (!trainer?.building) return null;
  const { done, total } = trainer.building;
  return total === 0 ? 'Building the trainer' : `Building the trainer: ${done} of ${total} files`;
}

/** Explains why runs can't be started. */
export function TrainerNotice({ trainer }: { trainer: TrainerState | undefined }) {
  if (!trainer?.problem) return null;
  const building = buildingText(trainer);
  if (building)
    return (
      <div className="note" data-kind="info" role="status">
        <div className="note-body">
          <p className="note-title">{building}</p>
          <progress
            aria-label="Trainer files compiled"
            value={trainer.building?.done}
            max={trainer.building?.total || 1}
          />
          <p>You can start runs when the build is complete.</p>
        </div>
      </div>
    );
  return (
    <ErrorNote
      error={{
        code: 'trainer_unavailable',
        message: "The trainer can't start.",
        hint: trainer.problem,
      }}
    />
  );
}
