import { describe, expect, test } from 'vitest';
import {
  derivedName,
  distinctName,
  nameParts,
  rolledBackTo,
  shortId,
  shortValue,
} from '../../core/contract/run-names.ts';
import { ownName } from '../../core/history/runs-table.ts';
import { slug } from '../../core/run-directory/names.ts';

describe('the name of a derived run', () => {
  test('replaces the suffix of a derived parent', () => {
    expect(derivedName('FrozenLake b7e8', 'fork at 40', [])).toBe('FrozenLake b7e8, fork at 40');
    expect(derivedName('FrozenLake b7e8, rolled back to 8, LR 1.7e-4', 'extended to 300', [])).toBe(
      'FrozenLake b7e8, extended to 300',
    );
  });

  test('is unique and at most 80 characters long', () => {
    const taken = ['Lake, fork at 40', 'Lake, fork at 40 (2)'];
    expect(derivedName('Lake', 'fork at 40', taken)).toBe('Lake, fork at 40 (3)');
    const name = derivedName('x'.repeat(80), 'rolled back to 8, LR 1.7e-4', []);
    expect(name).toHaveLength(80);
    expect(name).toMatch(/x…, rolled back to 8, LR 1\.7e-4$/);
  });

  test('states the changed settings', () => {
    expect(rolledBackTo(8, [{ path: 'optimizer.learning_rate', value: 0.5e-3 / 3 }])).toBe(
      'rolled back to 8, LR 1.7e-4',
    );
    expect(rolledBackTo(0, [{ path: 'policy_loss.entropy_coefficient', value: 0.05 }])).toBe(
      'rolled back to 0, entropy bonus 0.05',
    );
    expect([shortValue(true), shortValue(0), shortValue('head')]).toEqual(['on', '0', 'head']);
  });
});

test('an id keeps Latin letters without their accents', () => {
  expect(slug('Größe — sweep', 32)).toBe('grosse-sweep');
  expect(slug('Ångström, čeština & Łódź', 32)).toBe('angstrom-cestina-lodz');
  expect(slug('模型', 32)).toBe('');
});

describe('short ids', () => {
  test.each([
    ['starter-frozen-lake-20261127-1746-0c9d', '0c9d'],
    ['grpo-baseline-0c9d641c', '0c9d641c'],
    ['table-3-quick-a16c-max-actions-5-s3', 's3'],
    // Folders that were copied or named by hand.
    ['starter-frozen-lake-20261127-1746-0c9d-copy', '0c9d-copy'],
    ['hand-copy', 'hand-copy'],
    ['my-run', 'my-run'],
  ])('%s', (id, short) => expect(shortId(id)).toBe(short));

  test('a run and its copies have different names', () => {
    const ids = [
      'starter-frozen-lake-20261127-1746-0c9d',
      'starter-frozen-lake-20261127-1746-0c9d-copy',
      'hand-copy',
      'my-run',
    ];
    const defaults = ids.map((id) => ({ id, name: ownName(id, { preset: 'starter-frozen-lake', environments: [] }) }));
    for (const runs of [defaults, ids.map((id) => ({ id, name: 'Mine' }))]) {
      expect(new Set(runs.map(distinctName)).size).toBe(ids.length);
      expect(new Set(runs.map((run) => JSON.stringify(nameParts(run)))).size).toBe(ids.length);
    }
    expect(defaults.map(distinctName)).toEqual(defaults.map(({ name }) => name));
    expect(distinctName({ id: 'my-run', name: 'my-run' })).toBe('my-run');
  });
});
