import { visibleText } from '../../core/contract/confirm-command.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useConsent } from '../stores/consent-store.ts';
import styles from './confirm-command.module.css';

/** Asks before the command of an environment runs for the first time on this computer. */
export function ConfirmCommand() {
  const { asked, answer } = useConsent();
  if (!asked) return null;
  return (
    <Dialog
      wide
      onClose={() => answer(false)}
      title="Run this command?"
      description="An environment of the run is a program that has not run on this computer before. It can read and change your files, so run it only if you trust it."
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
      </dl>
    </Dialog>
  );
}
