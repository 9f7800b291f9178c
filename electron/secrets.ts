import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { SafeStorage } from 'electron';
import type { SecretStore } from '../core/models/hub-settings.ts';

type Keys = Pick<SafeStorage, 'isEncryptionAvailable' | 'encryptString' | 'decryptString'> &
  Partial<Pick<SafeStorage, 'getSelectedStorageBackend'>>;

/** Stores a secret in a file, encrypted by the system's key store. Undefined if there is none, or if it uses a hard-coded key.
 * Call after the app is ready.
 */
export function systemSecrets(keys: Keys, path: string): SecretStore | undefined {
  if (!keys.isEncryptionAvailable()) return undefined;
  if (process.platform === 'linux' && keys.getSelectedStorageBackend?.() === 'basic_text') return undefined;
  return {
    read() {
      try {
        return keys.decryptString(readFileSync(path)) || null;
      } catch {
        return null;
      }
    },
    write(secret) {
      rmSync(path, { force: true });
      if (secret !== null) writeFileSync(path, keys.encryptString(secret), { mode: 0o600, flag: 'wx' });
    },
  };
}
