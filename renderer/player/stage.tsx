import { useMemo } from 'react';
import type { Replay } from '../../core/contract/contract.ts';
import { sentence } from '../../core/contract/sentence.ts';
import { ResultTag, rewardText, voidText } from '../components/episode-result.tsx';
import { signed } from '../components/format.ts';
import { describeBoard, describeFrame, factText, outcomeAt, turnAndAction } from '../environments/describe.ts';
import type { Motion } from '../environments/motion.ts';
import { environmentOf, environmentTitle } from '../environments/registry.ts';
import { useReplay, useReplayStore } from './replay-view.tsx';
import { Timeline } from './timeline.tsx';
import { Transport } from './transport.tsx';

/** Shows the board, a caption and the player's controls. */
export function Stage({ replay, loading }: { replay: Replay; loading: boolean }) {
  const { summary } = replay;
  return (
    <section className="stage" aria-label="Player" data-loading={loading || undefined}>
      <header className="stage-head row wrap">
        <h2>
          {summary.split === 'train'
            ? `Group ${summary.group + 1}, episode ${summary.member + 1}`
            : `Level ${summary.group + 1}`}
        </h2>
        <ResultTag episode={summary} />
        {!summary.kept && !summary.void && <span className="tag">not trained on</span>}
        <span className="spacer" />
        <span className="faint">
          {environmentTitle(summary.environment)} · seed {summary.seed} · score {rewardText(summary)}
          {endLabels[summary.ended] ?? ` · ${summary.ended}`}
        </span>
      </header>
      {summary.void && (
        <div className="note" data-kind="warning" role="status">
          <div className="note-body">
            <p>
              <strong>This episode is neither trained on nor scored.</strong>
            </p>
            <p>{sentence(voidText(summary.void))}</p>
          </div>
        </div>
      )}
      <div className="stage-board">
        <Board replay={replay} />
      </div>
      <Caption replay={replay} />
      <Timeline replay={replay} />
      <Transport replay={replay} />
    </section>
  );
}

const endLabels: Record<string, string> = {
  done: '',
  max_turns: ' · turn limit reached',
  max_actions: ' · action limit reached',
  context: ' · context limit reached',
  environment_failed: '',
};

/** Draws the board of the enclosing ReplayView. */
export function Board({ replay }: { replay: Replay }) {
  const index = useReplay((state) => state.player.index);
  const motion = usePlayerMotion();
  if (!replay.frames[index]) return null;
  const { Board: Drawing } = environmentOf(replay.type);
  return <Drawing replay={replay} index={index} motion={motion} label={describeBoard(replay, index)} />;
}

/** Subscribes the board to the player's motion, outside React. */
function usePlayerMotion(): Motion {
  const store = useReplayStore();
  const moving = useReplay((state) => state.player.motion < 1);
  return useMemo(() => {
    const progress = () => store.getState().player.motion;
    const follow: Motion['follow'] = (draw) => {
      draw(progress());
      return store.subscribe(() => draw(progress()));
    };
    return { moving, follow };
  }, [store, moving]);
}

/**
 * Shows two lines below the board, of constant height so that the board doesn't move. Announced to screen readers
 * while stepping, not while playing.
 */
export function Caption({ replay }: { replay: Replay }) {
  const index = useReplay((state) => state.player.index);
  const playing = useReplay((state) => state.player.playing);
  const frame = replay.frames[index];
  if (!frame) return null;
  const text = describeFrame(replay, index);
  const { tone, note } = outcomeAt(replay, index);
  return (
    <div className="caption">
      <p className="visually-hidden" aria-live={playing ? 'off' : 'polite'}>
        {text}
      </p>
      <div className="caption-line row">
        <p aria-hidden="true">{frame.action === null ? text : `${turnAndAction(frame)}: ${frame.action}`}</p>
        <span className="spacer" />
        <span className="caption-reward">
          <span className="faint">reward so far</span> {signed(frame.total)}
        </span>
      </div>
      <div className="caption-line row">
        {frame.slipped && (
          <span className="tag" data-kind="slip" aria-hidden="true">
            slipped
          </span>
        )}
        {frame.deadEnd && (
          <span className="tag" data-kind="bad" aria-hidden="true">
            dead end
          </span>
        )}
        {frame.facts.map((fact) => (
          <span key={fact} className="tag" aria-hidden="true">
            {factText(fact)}
          </span>
        ))}
        {note && (
          <span className="tag" data-kind={tone} aria-hidden="true">
            {note}
          </span>
        )}
      </div>
    </div>
  );
}
