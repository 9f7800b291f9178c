import { type ReactNode, useId } from 'react';
import { Button } from './basics.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  title: string;
  /** A sentence under the title. */
  description?: string;
  /** What the button that sends the form says; Enter in a field does the same. */
  submit: string;
  disabled?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  /** Another button, before the rest. */
  other?: ReactNode;
  /** The fields. */
  children: ReactNode;
}

/** A small form before the page, with Cancel and the button that sends it. */
export function FormDialog({
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
      open
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
