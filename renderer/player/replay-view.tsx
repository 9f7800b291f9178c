import { createContext, type ReactNode, useContext, useState } from 'react';
import { useStore } from 'zustand';
import { createReplayStore, type ReplayState, type ReplayStore } from './replay-store.ts';

const ReplayContext = createContext<ReplayStore | null>(null);

interface ReplayViewProps {
  children: ReactNode;
  /** Store of the parent, which controls several players at once. */
  store?: ReplayStore;
}

/** Provides an episode and its player to the components inside. */
export function ReplayView({ children, store }: ReplayViewProps) {
  const [own] = useState(() => store ?? createReplayStore());
  return <ReplayContext value={store ?? own}>{children}</ReplayContext>;
}

export function useReplayStore(): ReplayStore {
  const store = useContext(ReplayContext);
  if (!store) throw new Error('No replay: render this inside a ReplayView.');
  return store;
}

/** Selects from the store of the enclosing ReplayView. */
export function useReplay<T>(select: (state: ReplayState) => T): T {
  return useStore(useReplayStore(), select);
}

/** Returns the index of the current frame's turn; 0 before the first action. */
export function useCurrentTurn(): number {
  return useReplay(({ replay, player: { index } }) => Math.max(0, replay?.frames[index]?.turn ?? 0));
}
