import { create } from 'zustand';
import type { Replay } from '../../core/contract/contract.ts';
import { initialPlayer, type PlayerAction, type PlayerState, player } from '../player/player.ts';

interface ReplayState {
  replay: Replay | null;
  /** The evaluation that was asked for, of which the episode is; null: of the run's own rollouts. */
  evaluation: string | null;
  player: PlayerState;
  show: (replay: Replay | null, evaluation?: string | null) => void;
  act: (action: PlayerAction) => void;
}

/** The episode on the stage and where its player is. */
export const useReplay = create<ReplayState>()((set) => ({
  replay: null,
  evaluation: null,
  player: initialPlayer,
  show: (replay, evaluation = null) =>
    set((state) => ({
      replay,
      evaluation,
      player: player(state.player, { type: 'load', count: replay?.frames.length ?? 0 }),
    })),
  act: (action) => set((state) => ({ player: player(state.player, action) })),
}));

/** Turn that the frame shown belongs to; 0 before the first action. */
export function useCurrentTurn(): number {
  return useReplay(({ replay, player: { index } }) => Math.max(0, replay?.frames[index]?.turn ?? 0));
}
