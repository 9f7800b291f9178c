import { useCallback, useEffect, useState } from 'react';
import type { FolderChoice, FolderChooser, FolderWish } from '../../../core/contract/bridge.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { useDoing } from '../../components/use-doing.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './system-page.module.css';

const desktop = () => (window as { starpo?: FolderChooser }).starpo;

/** Where runs and models are, and how another place is chosen: here in the desktop app, else where the app is started. */
export function DataFolder() {
  const folder = useApp((state) => state.system?.dataFolder);
  const chooser = desktop();
  return (
    <section className={`panel ${styles.section}`} aria-label="Data folder">
      <h2>Data folder</h2>
      <p>
        Runs, their checkpoints and downloaded models are in <code>{folder ?? '…'}</code>.
      </p>
      {chooser ? (
        <Choice chooser={chooser} />
      ) : (
        <p className="muted">
          Another folder is named when the app is started, by <code>--home FOLDER</code> or STARPO_HOME.
        </p>
      )}
    </section>
  );
}

function Choice({ chooser }: { chooser: FolderChooser }) {
  const [choice, setChoice] = useState<FolderChoice | null>(null);
  const [busy, doing] = useDoing();
  const wish = useCallback(
    (what: FolderWish) => doing(async () => setChoice(await chooser.dataFolder(what))),
    [chooser, doing],
  );
  useEffect(() => wish('look'), [wish]);
  if (!choice) return null;
  if (choice.by === 'start')
    return (
      <p className="muted">
        It was named when the app was started, by <code>--home</code> or STARPO_HOME, so no other can be
        chosen here.
      </p>
    );
  return (
    <>
      <p className="muted">
        You can choose a folder on another disk. One that has other files gets a folder starpo-studio for
        this. Nothing is moved or copied: runs, models and a Hugging Face token stay where they are, and the
        app shows them again when you go back. Commands are told of the folder by <code>--home</code>.
      </p>
      <div className={styles.preference}>
        <Button icon="disk" onClick={() => wish('choose')} disabled={busy}>
          Choose another folder…
        </Button>
        {choice.by === 'person' && (
          <Button kind="quiet" icon="reset" onClick={() => wish('usual')} disabled={busy}>
            Use the usual folder
          </Button>
        )}
      </div>
      <div role="status">
        {choice.next !== null && (
          <div className={styles.preference}>
            <p>
              From the next start on the data folder is <code>{choice.next}</code>. What trains now goes on in
              this one.
            </p>
            <Button kind="primary" onClick={() => chooser.restart()}>
              Restart now
            </Button>
          </div>
        )}
      </div>
      {choice.problem && <ErrorNote error={choice.problem} />}
    </>
  );
}
