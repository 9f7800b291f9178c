import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import type { Frame } from '../../../core/contract/contract.ts';
import styles from '../../../renderer/environments/bandit/bandit-board.module.css';
import { describeBoard, outcomeAt } from '../../../renderer/environments/describe.ts';
import { environmentOf } from '../../../renderer/environments/registry.ts';
import { acted, motionAt, replayOf, still } from './replays.ts';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const config = {
  lo_arm_name: 'Phoenix',
  hi_arm_name: 'Dragon',
  lo_arm_score: 0.1,
  hi_arm_loscore: 0,
  hi_arm_hiscore: 1,
  hi_arm_hiscore_prob: 0.25,
};
const pulled = (change: Partial<Frame>) =>
  replayOf('bandit', [still(), acted({ done: true, ...change })], { arms: ['Dragon', 'Phoenix'], config });

test('success is choosing the better arm, regardless of its payout', () => {
  const other = pulled({ action: 'Phoenix', reward: 0.1 });
  expect(outcomeAt(other, 1)).toMatchObject({ tone: 'idle', note: 'not the better arm; it paid out' });
  const better = pulled({ action: 'Dragon', reward: 0, success: true });
  expect(outcomeAt(better, 1)).toMatchObject({ tone: 'good' });
  expect(describeBoard(better, 1)).toBe(
    'Turn 1, action 1: Dragon, the better arm, paid nothing. ' +
      'Arms: Dragon pays 1 in 25 % of pulls, else 0, the better arm; Phoenix pays always 0.1. Reward 0.',
  );
});

test('the chosen machine shows its payout after the lever returns', async () => {
  const { Board } = environmentOf('bandit');
  const host = document.createElement('div');
  const root = createRoot(host);
  const draw = (progress: number) =>
    act(() =>
      root.render(
        <Board
          replay={pulled({ action: 'dragon', reward: 1 })}
          index={1}
          motion={motionAt(progress)}
          label="in words"
        />,
      ),
    );
  const windows = () => [...host.querySelectorAll(`.${styles.text}`)].map(({ textContent }) => textContent);
  await draw(0.5);
  expect(windows()).toEqual(['· · ·', '?']);
  await draw(1);
  expect(windows()).toEqual(['+1', '?']);
  expect(host.querySelector('[data-chosen]')?.textContent).toContain(
    '1 in 25 % of pulls, else 0+0.25 per pull on average: the better arm',
  );
  expect(host.querySelector('[data-passed]')).not.toBeNull();
  expect(host.querySelector('[role="img"]')?.getAttribute('aria-label')).toBe('in words');
  await act(() => root.unmount());
});
