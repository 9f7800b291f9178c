import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from '../components/dialog-content.module.css';

/** Shows a selected text that the browser did not allow to be copied. */
export function CopyManually({ text, close }: { text: string; close: () => void }) {
  return (
    <Dialog
      onClose={close}
      title="Copy the text"
      description="The browser doesn't allow access to the clipboard. Copy the selected text with the keyboard."
      actions={<Button onClick={close}>Close</Button>}
    >
      <label className={styles.field}>
        Text
        <textarea readOnly rows={4} value={text} onFocus={({ target }) => target.select()} />
      </label>
    </Dialog>
  );
}
