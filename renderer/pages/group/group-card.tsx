import type { RolloutBoards } from '../../../core/contract/contract.ts';
import { sentence } from '../../../core/contract/sentence.ts';
import { formatRoute } from '../../base/routes.ts';
import { ResultMark, resultWord, rewardText, voidText } from '../../components/episode-result.tsx';
import { signed } from '../../components/format.ts';
import { inOrder } from '../../components/in-order.ts';
import { MiniBoard } from '../../player/mini-board.tsx';
import type { Painting } from '../../player/paintings.ts';
import { useReplay } from '../../player/replay-view.tsx';
import styles from './group-page.module.css';

type Episode = RolloutBoards['episodes'][number];

interface GroupCardProps {
  runId: string;
  episode: Episode;
  painting: Painting;
  /** The episode with the highest reward. */
  best: Episode;
  /** Frame of the first action that differs from the best episode's; null if there is none. */
  differs: number | null;
}

const boardSize = 168;

/** Shows an episode: its board, reward, advantage and actions. */
export function GroupCard({ runId, episode, painting, best, differs }: GroupCardProps) {
  const { summary, advantage, thought } = episode;
  return (
    <li className={`panel ${styles.card}`} data-best={episode === best || undefined}>
      <header className="row">
        <ResultMark episode={summary} />
        <a href={formatRoute({ page: 'replay', runId, episodeId: summary.id })}>Episode {summary.member + 1}</a>
        <span className="visually-hidden">{resultWord(summary)}</span>
        {episode === best && <span className="tag">best</span>}
      </header>
      <div className={styles.board} style={{ minHeight: boardSize }}>
        <MiniBoard painting={painting} size={boardSize} />
      </div>
      <dl className={styles.facts}>
        <div>
          <dt>Reward</dt>
          <dd>{rewardText(summary)}</dd>
        </div>
        <div>
          <dt title="Mean over the tokens of the episode">Advantage</dt>
          <dd data-sign={advantage === null ? undefined : Math.sign(advantage)}>
            {advantage === null ? (summary.kept || summary.void ? '–' : 'not trained on') : signed(advantage)}
          </dd>
        </div>
      </dl>
      <Actions actions={episode.actions} differs={differs} best={best.summary.member + 1} />
      {summary.void && (
        <p className={`${styles.thought} muted small`} title={summary.void.reason}>
          {sentence(voidText(summary.void))}
        </p>
      )}
      {thought && (
        <p className={`${styles.thought} muted small`} title={thought}>
          {thought}
        </p>
      )}
    </li>
  );
}

interface ActionsProps {
  actions: Episode['actions'];
  differs: number | null;
  /** Number of the best episode. */
  best: number;
}

/** Lists the actions, marks the first that differs, and highlights the current one. */
function Actions({ actions, differs, best }: ActionsProps) {
  const current = useReplay(({ player: { index } }) => Math.min(index, actions.length - 1));
  return (
    <ol className={styles.actions} aria-label="Actions">
      {inOrder(actions, (action, frame) =>
        action === null ? null : (
          <li
            data-current={frame === current || undefined}
            data-differs={frame === differs || undefined}
            title={frame === differs ? `First action that differs from episode ${best}` : undefined}
          >
            {action}
            {frame === differs && (
              <span className="visually-hidden"> (first action that differs from episode {best})</span>
            )}
          </li>
        ),
      )}
    </ol>
  );
}
