import { useMemo } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { ResultMark, resultWord, rewardText } from '../../components/episode-result.tsx';
import { type EpisodeFile, sameFile } from '../../episodes/episode-files.ts';
import { useReported } from '../../stores/use-query.ts';

interface LevelStripProps {
  runId: string;
  files: readonly EpisodeFile[];
  file: EpisodeFile;
  /** The current episode. */
  level: EpisodeSummary;
  onChoose: (episodeId: string, evaluation: string | null) => void;
}

/** Shows the current level at every checkpoint that played it, oldest first. */
export function LevelStrip({ runId, files, file, level, onChoose }: LevelStripProps) {
  const filesOfSet = useMemo(() => files.filter(({ set }) => set === file.set).reverse(), [files, file.set]);
  const { group } = level;
  const names = filesOfSet.map(({ iteration, split, evaluation }) => ({ iteration, split, evaluation }));
  const episodes = useReported('rollouts.level', names.length < 2 ? null : { runId, group, files: names }) ?? [];

  if (filesOfSet.length < 2) return null;
  return (
    <nav className="level-strip row" aria-label="This level at each checkpoint">
      <span className="level-strip-title">
        Level {group + 1} <span className="faint">at checkpoint</span>
      </span>
      <div className="level-strip-checkpoints">
        {filesOfSet.map((each, index) => {
          const episode = episodes[index];
          return (
            <button
              key={each.iteration}
              type="button"
              className="level-checkpoint muted small"
              aria-current={sameFile(each, file) || undefined}
              aria-label={`Checkpoint ${each.iteration}${episode ? `: ${resultWord(episode)}, reward ${rewardText(episode)}` : ''}`}
              title={episode ? `reward ${rewardText(episode)}, ${episode.actions} actions` : undefined}
              disabled={!episode}
              onClick={() => episode && onChoose(episode.id, each.evaluation)}
            >
              <span>{each.iteration}</span>
              {episode ? (
                <ResultMark episode={episode} />
              ) : (
                <span className="result" aria-hidden="true">
                  ·
                </span>
              )}
            </button>
          );
        })}
      </div>
    </nav>
  );
}
