import { useEffect, useState } from 'react';
import type { HubSettings } from '../../../core/contract/contract.ts';
import { onOpen } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { useAction } from '../../components/use-action.ts';
import { useWriteLock } from '../../stores/write-access.ts';
import styles from './models-page.module.css';

/** Shows the hub's address, and a token for gated and private models. */
export function HubForm() {
  const api = useApi();
  const lock = useWriteLock();
  const [settings, setSettings] = useState<HubSettings | null>(null);
  /** The edited address; null if unedited. */
  const [typed, setTyped] = useState<string | null>(null);
  const [token, setToken] = useState('');
  const [busy, perform] = useAction();
  useEffect(() => onOpen(api, () => api.call('hub.settings', {}).then(setSettings, () => {})), [api]);
  const save = (change: { host?: string; token?: string }) =>
    perform(async () => {
      const saved = await api.call('hub.set', change);
      setSettings(saved);
      setTyped(null);
      setToken('');
    });
  const host = typed ?? settings?.host ?? '';
  return (
    <details className={styles.hub}>
      <summary>
        <Icon name="chevron" size={12} />
        Hub address and token
        {settings && (
          <span className="faint">
            {settings.host.replace('https://', '')}, {settings.hasToken ? 'with a token' : 'no token'}
          </span>
        )}
      </summary>
      <form
        className={styles.hubForm}
        onSubmit={(event) => {
          event.preventDefault();
          save({ host: host.trim(), ...(token && { token }) });
        }}
      >
        <label htmlFor="hub-host">Address</label>
        <input
          id="hub-host"
          className={styles.field}
          value={host}
          placeholder="https://huggingface.co"
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
        />
        <label htmlFor="hub-token">Token</label>
        <input
          id="hub-token"
          className={styles.field}
          type="password"
          autoComplete="off"
          value={token}
          placeholder={settings?.hasToken ? 'Saved. Enter a new token to replace it' : 'For gated or private models'}
          onChange={(event) => setToken(event.target.value)}
        />
        <div className={styles.foundActions}>
          <button type="submit" className="button" disabled={busy} {...lock}>
            Save
          </button>
          {settings?.hasToken && (
            <Button writes kind="danger" disabled={busy} onClick={() => save({ token: '' })}>
              Remove token
            </Button>
          )}
        </div>
        <p className="faint">
          The token is sent only to this address. It is stored in the system's key store, or in a file that only you can
          read.
        </p>
      </form>
    </details>
  );
}
