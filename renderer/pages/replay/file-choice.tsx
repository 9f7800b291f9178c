import { IconButton } from '../../components/basics.tsx';
import { type EpisodeFile, rank, sameFile } from '../../episodes/episode-files.ts';

interface FileChoiceProps {
  /** Newest first. */
  files: readonly EpisodeFile[];
  file: EpisodeFile | null;
  following: boolean;
  /** Null if no new files will appear. */
  onFollow: ((following: boolean) => void) | null;
  onChoose: (file: EpisodeFile) => void;
}

/** Selects an episode file: first the set, then the iteration. */
export function FileChoice({ files, file, following, onFollow, onChoose }: FileChoiceProps) {
  const sets = [...new Map(files.map((each) => [each.set, each])).values()].sort(
    (a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title),
  );
  const filesOfSet = files.filter(({ set }) => set === file?.set);
  const at = filesOfSet.findIndex((each) => sameFile(each, file));
  const choose = (chosen: EpisodeFile | undefined) => chosen && onChoose(chosen);
  return (
    <div className="file-choice row">
      <label>
        <span>Episodes</span>
        <select
          value={file?.set ?? ''}
          onChange={({ target }) => {
            const same = files.filter(({ set }) => set === target.value);
            // Keep the nearest iteration that the set has.
            choose(
              same.reduce<EpisodeFile | undefined>(
                (best, each) => (!best || distance(each, file) < distance(best, file) ? each : best),
                undefined,
              ),
            );
          }}
        >
          {sets.map(({ set, title }) => (
            <option key={set} value={set}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{file?.split === 'train' ? 'Iteration' : 'Checkpoint'}</span>
        <select
          value={file?.iteration ?? ''}
          onChange={({ target }) => choose(filesOfSet.find(({ iteration }) => iteration === Number(target.value)))}
        >
          {filesOfSet.map(({ iteration }) => (
            <option key={iteration} value={iteration}>
              {iteration}
            </option>
          ))}
        </select>
      </label>
      <IconButton
        icon="back"
        label="Previous iteration"
        disabled={at < 0 || at === filesOfSet.length - 1}
        onClick={() => choose(filesOfSet[at + 1])}
      />
      <IconButton icon="chevron" label="Next iteration" disabled={at <= 0} onClick={() => choose(filesOfSet[at - 1])} />
      {onFollow && (
        <button type="button" className="toggle" aria-pressed={following} onClick={() => onFollow(!following)}>
          Follow newest
        </button>
      )}
    </div>
  );
}

const distance = ({ iteration }: EpisodeFile, to: EpisodeFile | null) => Math.abs(iteration - (to?.iteration ?? 0));
