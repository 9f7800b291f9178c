import { useEffect, useState } from 'react';
import type { HubSettings } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { useDoing } from '../../components/use-doing.ts';
import styles from './models-page.module.css';

/** Which hub models come from, and the token for those that ask for one. */
export function HubForm() {
  const api = useApi();
  const [settings, setSettings] = useState<HubSettings | null>(null);
  /** As it is typed; null while nobody has. */
  const [typed, setTyped] = useState<string | null>(null);
  const [token, setToken] = useState('');
  const [busy, doing] = useDoing();
  useEffect(
    () =>
      api.onState((state) => {
        if (state !== 'open') return;
        api.call('hub.settings', {}).then(setSettings, () => {});
      }),
    [api],
  );
  const save = (wish: { host?: string; token?: string }) =>
    doing(async () => {
      const found = await api.call('hub.set', wish);
      setSettings(found);
      setTyped(null);
      setToken('');
    });
  const host = typed ?? settings?.host ?? '';
  return (
    <details className={styles.hub}>
      <summary>
        <Icon name="chevron" size={12} />
        Hub and token
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
          placeholder={
            settings?.hasToken ? 'There is one; type another to replace it' : 'Only gated models need one'
          }
          onChange={(event) => setToken(event.target.value)}
        />
        <div className={styles.foundActions}>
          <button type="submit" className="button" disabled={busy}>
            Save
          </button>
          {settings?.hasToken && (
            <Button kind="danger" disabled={busy} onClick={() => save({ token: '' })}>
              Forget the token
            </Button>
          )}
        </div>
        <p className="faint">
          The token goes to this address alone. It is kept by the system's key store, or in a file that only
          you can read.
        </p>
      </form>
    </details>
  );
}
