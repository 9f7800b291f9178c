import { useCallback, useEffect, useState } from 'react';
import type { FolderChoice, FolderChooser, FolderRequest } from '../../../core/contract/bridge.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { Section } from '../../components/section.tsx';
import { useAction } from '../../components/use-action.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './settings.module.css';

const desktop = () => (window as { starpo?: FolderChooser }).starpo;

/** Shows the data folder. The desktop app can change it; a browser can't. */
export function DataFolder() {
  const folder = useApp((state) => state.system?.dataFolder);
  const chooser = desktop();
  return (
    <Section title="Data folder">
      <p>
        Runs, their checkpoints and downloaded models are in <code>{folder ?? '…'}</code>.
      </p>
      {chooser ? (
        <Choice chooser={chooser} />
      ) : (
        <p className="muted">
          To change it, start with <code>--home</code> or set <code>STARPO_HOME</code>.
        </p>
      )}
    </Section>
  );
}

function Choice({ chooser }: { chooser: FolderChooser }) {
  const [choice, setChoice] = useState<FolderChoice | null>(null);
  const [busy, perform] = useAction();
  const request = useCallback(
    (what: FolderRequest) => perform(async () => setChoice(await chooser.dataFolder(what))),
    [chooser, perform],
  );
  useEffect(() => request('get'), [request]);
  if (!choice) return null;
  if (choice.by === 'start')
    return (
      <p className="muted">
        It was set at startup with <code>--home</code> or <code>STARPO_HOME</code>, so it can't be changed here.
      </p>
    );
  return (
    <div className={styles.rows}>
      <p className="muted">
        You can use a folder on another disk. If it contains other files, the app creates a subfolder starpo-studio.
        Nothing is moved or copied: runs, models and the Hugging Face token stay in the current folder and reappear when
        you switch back. Pass the folder to commands with <code>--home</code>.
      </p>
      <div className={styles.preference}>
        <Button icon="disk" onClick={() => request('choose')} disabled={busy}>
          Choose another folder…
        </Button>
        {choice.by === 'user' && (
          <Button kind="quiet" icon="reset" onClick={() => request('default')} disabled={busy}>
            Use the default folder
          </Button>
        )}
      </div>
      <div role="status">
        {choice.next !== null && (
          <div className={styles.preference}>
            <p>
              The data folder changes to <code>{choice.next}</code> after a restart. Active runs stay in the current
              folder.
            </p>
            <Button kind="primary" onClick={() => chooser.restart()}>
              Restart now
            </Button>
          </div>
        )}
      </div>
      {choice.problem && <ErrorNote error={choice.problem} />}
    </div>
  );
}
