import type { Replay } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { Empty } from '../../components/basics.tsx';
import { ResultTag } from '../../components/episode-result.tsx';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import type { EpisodeFile } from '../../episodes/episode-files.ts';
import { useEpisode } from '../../episodes/use-episodes.ts';
import { useCurrentTurn, useReplay } from '../../player/replay-view.tsx';
import { Board, Caption } from '../../player/stage.tsx';
import { useClock } from '../../player/use-player.ts';
import { useRun } from '../../views/run-view.tsx';
import styles from './then-and-now.module.css';

interface SideProps {
  title: string;
  file: EpisodeFile;
  episodeId: string;
}

/** Shows an episode with the reasoning of the current turn. */
export function Side({ title, file: { iteration, evaluation }, episodeId }: SideProps) {
  const runId = useRun((state) => state.runId);
  useEpisode(runId, evaluation, episodeId);
  useClock();
  const replay = useReplay((state) => state.replay);
  return (
    <section className={`panel ${styles.side} column`} aria-label={`${title}, checkpoint ${iteration}`}>
      <header>
        <h2>{title}</h2>
        <span className="muted small">checkpoint {iteration}</span>
        {replay && <ResultTag episode={replay.summary} />}
        <span className="spacer" />
        <a href={formatRoute({ page: 'replay', runId, evaluation, episodeId })} title="Open in Replay">
          Replay
        </a>
      </header>
      {replay ? <Player replay={replay} /> : <Empty title="Loading the episode…" />}
    </section>
  );
}

function Player({ replay }: { replay: Replay }) {
  const current = useCurrentTurn();
  const turn = replay.turns[current];
  return (
    <>
      <div className={styles.board}>
        <Board replay={replay} />
      </div>
      <Caption replay={replay} />
      <div className={styles.turn}>
        <h3>
          Turn {current + 1} <span className="faint">of {replay.turns.length}</span>
        </h3>
        <ScrollingRegion key={current} className={styles.text} aria-label="Response">
          <blockquote>{turn?.think?.trim() || turn?.response.trim() || '(empty response)'}</blockquote>
          {turn?.answer && <p className={styles.answer}>{turn.answer.trim()}</p>}
        </ScrollingRegion>
      </div>
    </>
  );
}
