import { describe, expect, test } from 'vitest';
import { derivedName, rolledBackTo, shortValue } from '../../core/contract/run-names.ts';
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
