import { createContext, type ReactNode, useContext, useState } from 'react';
import { useStore } from 'zustand';
import { createReplayStore, type ReplayState, type ReplayStore } from './replay-store.ts';

const ReplayContext = createContext<ReplayStore | null>(null);

interface ReplayViewProps {
  children: ReactNode;
  /** Where whoever has several of them keeps its own. */
  store?: ReplayStore;
}

/** A stage of its own for the episode shown in it, with its own player. */
export function ReplayView({ children, store }: ReplayViewProps) {
  const [own] = useState(() => store ?? createReplayStore());
  return <ReplayContext value={store ?? own}>{children}</ReplayContext>;
}

export function useReplayStore(): ReplayStore {
  const store = useContext(ReplayContext);
  if (!store) throw new Error('No replay: render this inside a ReplayView.');
  return store;
}

/** Of the stage whose view this is in. */
export function useReplay<T>(select: (state: ReplayState) => T): T {
  return useStore(useReplayStore(), select);
}

/** Turn that the frame shown belongs to; 0 before the first action. */
export function useCurrentTurn(): number {
  return useReplay(({ replay, player: { index } }) => Math.max(0, replay?.frames[index]?.turn ?? 0));
}
