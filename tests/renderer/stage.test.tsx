import { act, Profiler } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import styles from '../../renderer/environments/frozen-lake/lake-board.module.css';
import type { ReplayStore } from '../../renderer/player/replay-store.ts';
import { ReplayView, useReplayStore } from '../../renderer/player/replay-view.tsx';
import { Stage } from '../../renderer/player/stage.tsx';
import { acted, replayOf, still } from './environments/replays.ts';

test('React renders only the start and end of a motion', async () => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  const replay = replayOf('frozen-lake', [still({ board: 'P_G\n_O_' }), acted({ action: 'Right', board: '_PG\n_O_' })]);
  const host = document.createElement('div');
  const root = createRoot(host);
  let store!: ReplayStore;
  let renders = 0;
  function View() {
    store = useReplayStore();
    return (
      <Profiler id="stage" onRender={() => renders++}>
        <Stage replay={replay} loading={false} />
      </Profiler>
    );
  }
  await act(() =>
    root.render(
      <ReplayView>
        <View />
      </ReplayView>,
    ),
  );
  const place = () => host.querySelector(`.${styles.agent}`)!.getAttribute('transform');
  const path = () => host.querySelectorAll('polyline').length;
  const tick = (elapsed: number) => store.getState().act({ type: 'tick', elapsed, pause: 0 });

  await act(() => store.getState().show(replay));
  expect(place()).toContain('translate(32 32)');
  await act(() => store.getState().act({ type: 'step', by: 1 }));
  expect(place()).toContain('translate(32 32)');

  renders = 0;
  const transforms = [place()];
  for (let frame = 0; frame < 3; frame++) {
    await act(() => tick(90));
    transforms.push(place());
  }
  expect(renders).toBe(0);
  expect(new Set(transforms).size).toBe(4);
  expect(path()).toBe(0);

  await act(() => tick(200));
  expect(renders).toBe(1);
  expect(place()).toContain('translate(96 32)');
  expect(path()).toBe(1);
  await act(() => root.unmount());
});
