import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HubSettingsStore } from '../core/models/hub-settings.ts';
import { systemSecrets } from './secrets.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'starpo-secrets-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** A key store that reverses texts. */
const keys = {
  isEncryptionAvailable: () => true,
  encryptString: (text: string) => Buffer.from([...text].reverse().join('')),
  decryptString: (bytes: Buffer) => [...bytes.toString()].reverse().join(''),
};

test('a token is stored encrypted, readable only by its owner, and deleted on request', () => {
  const path = join(home, 'hub-token.safe');
  const settings = new HubSettingsStore(home, systemSecrets(keys, path), {});
  expect(settings.set({ token: 'hf_secret' })).toMatchObject({ hasToken: true });
  expect(readFileSync(path, 'utf8')).toBe('terces_fh');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(join(home, 'hub-token'))).toBe(false);
  expect(settings.token).toBe('hf_secret');
  expect(settings.set({ token: '' })).toMatchObject({ hasToken: false });
  expect(existsSync(path)).toBe(false);
});

test('without a secure key store, there is no encrypted storage', () => {
  const none = { ...keys, isEncryptionAvailable: () => false };
  const open = { ...keys, getSelectedStorageBackend: () => 'basic_text' as const };
  expect(systemSecrets(none, home)).toBeUndefined();
  if (process.platform === 'linux') expect(systemSecrets(open, home)).toBeUndefined();
});
