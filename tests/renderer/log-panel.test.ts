import { expect, test } from 'vitest';
import type { LogLine } from '../../core/contract/contract.ts';
import { withoutRepeats } from '../../renderer/pages/run/log-panel.tsx';

test('repeated messages of successive iterations are merged into one line', () => {
  const lines = ['Started.', ...[3, 4, 6].map((at) => `iteration ${at}: few groups differ`), 'iteration 6: slow'];
  const messages = [...lines, 'iteration 7: few groups differ', 'Started.', 'Started.'];
  const log = messages.map((message, seq): LogLine => ({ seq, time: seq, level: 'info', message }));
  expect(withoutRepeats(log).map(({ seq, message }) => `${seq} ${message}`)).toEqual([
    '0 Started.',
    '3 3 iterations since 3: few groups differ',
    '4 iteration 6: slow',
    '5 iteration 7: few groups differ',
    '6 Started.',
    '7 Started.',
  ]);
});
