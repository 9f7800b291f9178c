import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef, useState } from 'react';
import { useApp } from '../stores/app-store.ts';
import { ErrorNote } from './basics.tsx';
import styles from './dialog.module.css';

interface DialogProps {
  open?: boolean;
  /** Makes room for two columns. */
  wide?: boolean;
  onClose: () => void;
  title: string;
  /** A sentence under the title. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons; the primary one is last. */
  actions?: ReactNode;
}

/** Shows a modal dialog. Escape and a click outside close it. */
export function Dialog({ open = true, wide, onClose, title, description, children, actions }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const firstFocus = () => {
    const { scrollHeight = 0, clientHeight = 0 } = popup.current ?? {};
    // Focus on the buttons at its end would scroll a tall dialog past its title.
    return scrollHeight > clientHeight && !popup.current?.querySelector('input, select, textarea')
      ? popup.current
      : true;
  };
  return (
    <Base.Root open={open} onOpenChange={(shown) => !shown && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup ref={popup} className={styles.dialog} data-wide={wide || undefined} initialFocus={firstFocus}>
          <Base.Title>{title}</Base.Title>
          {description && (
            <Base.Description className={styles.description} render={<div />}>
              {description}
            </Base.Description>
          )}
          {children}
          <NewestError />
          {actions && <div className={`${styles.actions} wrap`}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Shows the newest error since the dialog was opened, because the page's messages are behind the backdrop. */
function NewestError() {
  const errors = useApp((state) => state.errors);
  const dismiss = useApp((state) => state.dismiss);
  const [earlier] = useState(() => new Set(errors.map(({ key }) => key)));
  const newest = errors.findLast(({ key }) => !earlier.has(key));
  return newest && <ErrorNote error={newest.error} onDismiss={() => dismiss(newest.key)} />;
}
