import { useApp } from '../stores/app-store.ts';
import { useDialogs } from '../stores/dialogs-store.ts';

/**
 * Copies text and shows a message. If the browser refuses, for example on an address without HTTPS, shows the text in a dialog to copy it
 * manually. Returns whether the text was copied.
 */
export async function copyText(text: string, done: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    useDialogs.getState().openDialog({ kind: 'copy', text });
    return false;
  }
  useApp.getState().notify(done);
  return true;
}
