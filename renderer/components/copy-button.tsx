import { Button } from './basics.tsx';
import { copyText } from './copy.ts';

/** Copies text, then shows the message `done`. */
export const CopyButton = ({ label, text, done, disabled = false }: CopyButtonProps) => (
  <Button icon="copy" disabled={disabled} onClick={() => void copyText(text, done)} title={disabled ? undefined : text}>
    {label}
  </Button>
);

interface CopyButtonProps {
  label: string;
  text: string;
  done: string;
  disabled?: boolean;
}
