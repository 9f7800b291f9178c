import { useEffect, useState } from 'react';
import { visibleText } from '../../core/contract/confirm-command.ts';
import type { OwnCommand } from '../../core/contract/contract.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useConsent } from '../stores/consent-store.ts';
import styles from './confirm-command.module.css';

/** Asks for confirmation of a command of an environment or reward program that was not confirmed before. */
export function ConfirmCommand() {
  const { asked, answer } = useConsent();
  const digest = useDigest(asked);
  if (!asked) return null;
  return (
    <Dialog
      wide
      onClose={() => answer(false)}
      title="Run this command?"
      description="You have not confirmed this command yet. It can read and change your files, so run it only if you trust it."
      actions={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button kind="primary" onClick={() => answer(true)}>
            Run command
          </Button>
        </>
      }
    >
      <dl className={styles.command}>
        <dt>Command</dt>
        <dd>
          <pre>{visibleText(asked.command)}</pre>
        </dd>
        <dt>Folder</dt>
        <dd>
          <pre>{visibleText(asked.directory)}</pre>
        </dd>
        <dt>SHA-256 of folder and command, under which your consent is stored</dt>
        <dd>
          <pre>{digest ?? '…'}</pre>
        </dd>
      </dl>
    </Dialog>
  );
}

/** Returns the digest of a command as the server computes it; null while it is computed. */
function useDigest(own: OwnCommand | null): string | null {
  const [computed, setComputed] = useState<{ own: OwnCommand; digest: string } | null>(null);
  useEffect(() => {
    if (!own) return;
    let active = true;
    const text = new TextEncoder().encode(`${own.directory}\n${own.command}`);
    crypto.subtle.digest('SHA-256', text).then((bytes) => {
      const digest = Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
      if (active) setComputed({ own, digest });
    });
    return () => {
      active = false;
    };
  }, [own]);
  return computed?.own === own ? (computed?.digest ?? null) : null;
}
