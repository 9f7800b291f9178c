import { type ReactNode, useId } from 'react';
import { Button } from './basics.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  /** False hides the dialog; its owner keeps the fields. */
  open?: boolean;
  /** Makes room for two columns. */
  wide?: boolean;
  title: string;
  /** A sentence under the title. */
  description?: string;
  submit: string;
  disabled?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  /** Another button, before Cancel. */
  other?: ReactNode;
  children: ReactNode;
}

/** Shows a dialog with a form, Cancel and a submit button. */
export function FormDialog({
  open = true,
  wide = false,
  title,
  description,
  submit,
  disabled = false,
  onSubmit,
  onClose,
  other,
  children,
}: FormDialogProps) {
  const id = useId();
  return (
    <Dialog
      open={open}
      wide={wide}
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          {other}
          <Button onClick={onClose}>Cancel</Button>
          <button type="submit" form={id} className="button" data-kind="primary" disabled={disabled}>
            {submit}
          </button>
        </>
      }
    >
      <form
        id={id}
        onSubmit={(event) => {
          event.preventDefault();
          if (!disabled) onSubmit();
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}
