import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';
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
          {actions && <div className={`${styles.actions} wrap`}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
