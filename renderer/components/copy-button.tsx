import { Button } from './basics.tsx';
import { copyText } from './copy.ts';

/** Copies a text. `done` confirms it. */
export const CopyButton = ({ label, text, done }: { label: string; text: string; done: string }) => (
  <Button icon="copy" onClick={() => void copyText(text, done)} title={text}>
    {label}
  </Button>
);
