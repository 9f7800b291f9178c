import { createStore, type StoreApi } from 'zustand';
import type { Replay } from '../../core/contract/contract.ts';
import { initialPlayer, type PlayerAction, type PlayerState, player } from './player.ts';

export interface ReplayState {
  replay: Replay | null;
  /** Name of the on-demand evaluation that the episode belongs to; null for the run's own rollouts. */
  evaluation: string | null;
  player: PlayerState;
  show: (replay: Replay, evaluation?: string | null) => void;
  act: (action: PlayerAction) => void;
}

export type ReplayStore = StoreApi<ReplayState>;

/** Creates a store for an episode and the state of its player. */
export const createReplayStore = (): ReplayStore =>
  createStore<ReplayState>()((set) => ({
    replay: null,
    evaluation: null,
    player: initialPlayer,
    show: (replay, evaluation = null) =>
      set((state) => ({
        replay,
        evaluation,
        player: player(state.player, { type: 'load', count: replay.frames.length }),
      })),
    act: (action) => set((state) => ({ player: player(state.player, action) })),
  }));
