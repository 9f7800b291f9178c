import { Button } from './basics.tsx';
import { copyText } from './copy.ts';

/** Copies text, then shows the message `done`. */
export const CopyButton = ({ label, text, done }: { label: string; text: string; done: string }) => (
  <Button icon="copy" onClick={() => void copyText(text, done)} title={text}>
    {label}
  </Button>
);
