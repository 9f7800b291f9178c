import type { RolloutFile } from '../../../core/api/contract.ts';
import { IconButton } from '../../components/basics.tsx';
import type { FileName } from './episode-list.ts';

interface FileChoiceProps {
  /** Newest first. */
  files: readonly RolloutFile[];
  file: FileName | null;
  followed: boolean;
  /** Null where nothing new will come. */
  onFollow: ((followed: boolean) => void) | null;
  onChoose: (file: FileName) => void;
}

const splitWords = (split: string) => (split === 'train' ? 'Training rollout' : `Evaluation: ${split}`);

/** Which rollout file: first what kind of episodes, then the iteration among those there are. */
export function FileChoice({ files, file, followed, onFollow, onChoose }: FileChoiceProps) {
  const splits = [...new Set(files.map(({ split }) => split))].sort(
    (a, b) => rank(a) - rank(b) || a.localeCompare(b),
  );
  const iterations = files.filter(({ split }) => split === file?.split).map(({ iteration }) => iteration);
  const at = iterations.indexOf(file?.iteration ?? -1);
  const choose = (iteration: number | undefined) =>
    file && iteration !== undefined && onChoose({ split: file.split, iteration });
  return (
    <div className="file-choice">
      <label>
        <span>Episodes of</span>
        <select
          value={file?.split ?? ''}
          onChange={({ target }) => {
            const same = files.filter(({ split }) => split === target.value);
            // The nearest iteration that this kind has.
            const nearest = same.reduce<RolloutFile | undefined>(
              (best, each) => (!best || distance(each, file) < distance(best, file) ? each : best),
              undefined,
            );
            if (nearest) onChoose(nearest);
          }}
        >
          {splits.map((split) => (
            <option key={split} value={split}>
              {splitWords(split)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Iteration</span>
        <select value={file?.iteration ?? ''} onChange={({ target }) => choose(Number(target.value))}>
          {iterations.map((iteration) => (
            <option key={iteration} value={iteration}>
              {iteration}
            </option>
          ))}
        </select>
      </label>
      <IconButton
        icon="back"
        label="Earlier iteration"
        disabled={at < 0 || at === iterations.length - 1}
        onClick={() => choose(iterations[at + 1])}
      />
      <IconButton
        icon="chevron"
        label="Later iteration"
        disabled={at <= 0}
        onClick={() => choose(iterations[at - 1])}
      />
      {onFollow && (
        <button type="button" className="toggle" aria-pressed={followed} onClick={() => onFollow(!followed)}>
          Follow newest
        </button>
      )}
    </div>
  );
}

const rank = (split: string) => (split === 'train' ? 0 : 1);
const distance = ({ iteration }: FileName, to: FileName | null) => Math.abs(iteration - (to?.iteration ?? 0));
