import { useRef, useState } from 'react';
import type { Settings } from '../../../core/contract/contract.ts';
import { saveFile } from '../../api/files.ts';
import { Button } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { applyEdits, type Config } from '../../stores/draft.ts';
import { ImportDialog } from './import-dialog.tsx';
import type { Imported } from './read-config.ts';
import styles from './transfer.module.css';

interface TransferProps {
  base: Config;
  edits: Settings;
  /** True to open the import dialog first. */
  importing: boolean;
  onImport: (imported: Imported) => void;
}

/** Imports and exports the configuration as JSON. */
export function Transfer({ base, edits, importing, onImport }: TransferProps) {
  const [open, setOpen] = useState<'in' | 'out' | null>(importing ? 'in' : null);
  const close = () => setOpen(null);
  return (
    <div className={styles.buttons}>
      <Button icon="import" onClick={() => setOpen('in')}>
        Import…
      </Button>
      <Button icon="export" onClick={() => setOpen('out')}>
        Export…
      </Button>
      {open === 'in' && <ImportDialog onClose={close} onImport={onImport} />}
      {open === 'out' && <Export text={`${JSON.stringify(applyEdits({ base, edits }), null, 2)}\n`} onClose={close} />}
    </div>
  );
}

function Export({ text, onClose }: { text: string; onClose: () => void }) {
  const [message, setMessage] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied.');
    } catch {
      field.current?.select();
      setMessage('Copy the selected text with the keyboard.');
    }
  }
  function save(): void {
    saveFile('run.json', new Blob([text], { type: 'application/json' }));
    setMessage('Saved as run.json.');
  }
  return (
    <Dialog
      onClose={onClose}
      title="Export the configuration"
      description="The complete run.json with your changes. Import it here or pass it to starpo with --config."
      actions={
        <>
          <span className={styles.message} role="status">
            {message}
          </span>
          <Button onClick={onClose}>Close</Button>
          <Button onClick={() => void copy()}>Copy</Button>
          <Button kind="primary" icon="export" onClick={save}>
            Save file
          </Button>
        </>
      }
    >
      <textarea ref={field} className={styles.text} readOnly rows={14} value={text} aria-label="run.json" />
    </Dialog>
  );
}
