import { expect, test } from 'vitest';
import type { Settings } from '../../core/contract/contract.ts';
import { divideChanges } from '../../renderer/pages/studies/shared-changes.ts';

test('changes that all settings of a sweep have in common are not changes of one setting', () => {
  const rows: { set: Settings }[] = [
    { set: { 'kl.coefficient': 0, device: 'cuda' } },
    { set: { 'kl.coefficient': 0.1, device: 'cuda', iterations: 2 } },
  ];
  const { shared, own } = divideChanges(rows);
  expect(shared).toEqual({ device: 'cuda' });
  expect(rows.map(({ set }) => own(set))).toEqual([{ 'kl.coefficient': 0 }, { 'kl.coefficient': 0.1, iterations: 2 }]);
  const [single] = rows;
  expect(divideChanges([single!]).own(single!.set)).toEqual(single!.set);
  expect(divideChanges([]).shared).toEqual({});
});
