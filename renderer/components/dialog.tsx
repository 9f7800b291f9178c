import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import styles from './dialog.module.css';

interface DialogProps {
  open?: boolean;
  onClose: () => void;
  title: string;
  /** A sentence under the title. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons; the primary one is last. */
  actions?: ReactNode;
}

/** Shows a modal dialog. Escape and a click outside close it. */
export function Dialog({ open = true, onClose, title, description, children, actions }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(shown) => !shown && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={styles.dialog}>
          <Base.Title>{title}</Base.Title>
          {description && (
            <Base.Description className={styles.description} render={<div />}>
              {description}
            </Base.Description>
          )}
          {children}
          {actions && <div className={`${styles.actions} wrap`}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
