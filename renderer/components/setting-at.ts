import type { SettingValue } from '../../core/contract/contract.ts';

/** Returns a setting by its path, such as `optimizer.learning_rate`; undefined if it doesn't exist. */
export function settingAt(config: unknown, path: string): SettingValue | undefined {
  const value = path
    .split('.')
    .reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined | null)?.[key], config);
  return ['string', 'number', 'boolean'].includes(typeof value) ? (value as SettingValue) : undefined;
}
