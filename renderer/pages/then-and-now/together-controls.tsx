import { useCallback, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import { PlaybackControls } from '../../player/playback-controls.tsx';
import type { PlayerAction } from '../../player/player.ts';
import type { ReplayState, ReplayStore } from '../../player/replay-store.ts';
import styles from './then-and-now.module.css';

interface TogetherControlsProps {
  stores: readonly ReplayStore[];
  act: (action: PlayerAction) => void;
}

/** Playback controls of all boards. */
export function TogetherControls({ stores, act }: TogetherControlsProps) {
  const playing = useSome(stores, ({ player }) => player.playing);
  const started = useSome(stores, ({ player }) => player.index > 0);
  const speed = useStore(stores[0]!, ({ player }) => player.speed);
  return (
    <PlaybackControls
      label="Playback of all boards"
      playing={playing}
      speed={speed}
      atStart={!started}
      atEnd={false}
      act={act}
      className={styles.controls}
    />
  );
}

/** Returns whether the condition holds for any of the players. */
function useSome(stores: readonly ReplayStore[], condition: (state: ReplayState) => boolean): boolean {
  return useSyncExternalStore(
    useCallback(
      (onChange) => {
        const ends = stores.map((store) => store.subscribe(onChange));
        return () => {
          for (const end of ends) end();
        };
      },
      [stores],
    ),
    () => stores.some((store) => condition(store.getState())),
  );
}
