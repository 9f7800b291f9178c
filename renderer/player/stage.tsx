import { useMemo } from 'react';
import type { Replay } from '../../core/contract/contract.ts';
import { BanditBoard } from '../boards/bandit-board.tsx';
import { describeBoard, describeFrame, type Outcome, outcome, placeOf } from '../boards/describe.ts';
import { moveAt, parseLake, trail } from '../boards/lake.ts';
import { LakeBoard } from '../boards/lake-board.tsx';
import { lostBox, parseRoom, roomMoveAt, roomTrail } from '../boards/sokoban.ts';
import { SokobanBoard } from '../boards/sokoban-board.tsx';
import { signed } from '../components/format.ts';
import { useReplay } from '../stores/replay-store.ts';
import { Timeline } from './timeline.tsx';
import { Transport } from './transport.tsx';

/** The board, what happens on it in words, and the player's controls. */
export function Stage({ replay, loading }: { replay: Replay; loading: boolean }) {
  const { summary } = replay;
  return (
    <section className="stage" aria-label="Player" data-loading={loading || undefined}>
      <header className="stage-head">
        <h2>
          {summary.split === 'train'
            ? `Group ${summary.group + 1}, member ${summary.member + 1}`
            : `Level ${summary.group + 1}`}
        </h2>
        <span className="tag" data-kind={summary.success ? 'good' : 'bad'}>
          {summary.success ? 'success' : 'failed'}
        </span>
        {!summary.kept && <span className="tag">dropped by the filter</span>}
        <span className="spacer" />
        <span className="faint">
          {summary.environment} · seed {summary.seed} · score {signed(summary.reward)}
          {endWords[summary.ended] ?? ` · ${summary.ended}`}
        </span>
      </header>
      <div className="stage-board">
        <Board replay={replay} />
      </div>
      <Caption replay={replay} />
      <Timeline replay={replay} />
      <Transport replay={replay} />
    </section>
  );
}

const endWords: Record<string, string> = {
  done: '',
  max_turns: ' · out of turns',
  max_actions: ' · out of actions',
  context: ' · out of context',
};

function Board({ replay }: { replay: Replay }) {
  const { index, motion } = useReplay((state) => state.player);
  const frame = replay.frames[index];
  const label = describeBoard(replay, index);
  if (!frame) return null;
  if (replay.type === 'bandit') {
    return (
      <BanditBoard
        arms={replay.arms ?? []}
        config={replay.config}
        frame={frame}
        progress={motion}
        label={label}
      />
    );
  }
  const Grid = replay.type === 'sokoban' ? RoomOf : LakeOf;
  return <Grid replay={replay} index={index} progress={motion} label={label} />;
}

interface GridProps {
  replay: Replay;
  index: number;
  progress: number;
  label: string;
}

function LakeOf({ replay: { frames }, index, progress, label }: GridProps) {
  const moving = progress < 1;
  const board = frames[index]?.board ?? null;
  const lake = useMemo(() => (board === null ? null : parseLake(board)), [board]);
  const move = useMemo(() => moveAt(frames, index), [frames, index]);
  const path = useMemo(() => trail(frames, moving ? index - 1 : index), [frames, index, moving]);
  if (!lake) return <pre className="board-text">{board}</pre>;
  return <LakeBoard lake={lake} move={move} progress={progress} trail={path} label={label} />;
}

function RoomOf({ replay: { frames }, index, progress, label }: GridProps) {
  const moving = progress < 1;
  const board = frames[index]?.board ?? null;
  const room = useMemo(() => (board === null ? null : parseRoom(board)), [board]);
  const move = useMemo(() => roomMoveAt(frames, index), [frames, index]);
  const path = useMemo(() => roomTrail(frames, moving ? index - 1 : index), [frames, index, moving]);
  const lost = useMemo(() => (moving ? null : lostBox(frames, index)), [frames, index, moving]);
  if (!room) return <pre className="board-text">{board}</pre>;
  return <SokobanBoard room={room} move={move} progress={progress} trail={path} lost={lost} label={label} />;
}

const marks: Partial<Record<Outcome, { text: string; kind?: 'good' | 'bad' }>> = {
  bump: { text: 'blocked' },
  fall: { text: 'fell into a hole', kind: 'bad' },
  goal: { text: 'reached the goal', kind: 'good' },
  solved: { text: 'solved the level', kind: 'good' },
  payout: { text: 'paid out', kind: 'good' },
  nothing: { text: 'paid nothing' },
};

/** One line under the board; said aloud while stepping, silent while playing. */
function Caption({ replay }: { replay: Replay }) {
  const { index, playing } = useReplay((state) => state.player);
  const frame = replay.frames[index];
  if (!frame) return null;
  const words = describeFrame(replay.frames, index);
  const mark = marks[outcome(frame)];
  return (
    <div className="caption">
      <p className="visually-hidden" aria-live={playing ? 'off' : 'polite'}>
        {words}
      </p>
      <p aria-hidden="true">{frame.action === null ? words : `${placeOf(frame)}: ${frame.action}`}</p>
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
      {mark && (
        <span className="tag" data-kind={mark.kind} aria-hidden="true">
          {mark.text}
        </span>
      )}
      <span className="spacer" />
      <span className="caption-reward">
        <span className="faint">reward so far</span> {signed(frame.total)}
      </span>
    </div>
  );
}
