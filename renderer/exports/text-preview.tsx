import { useEffect, useState } from 'react';
import type { ApiError, ExportSource } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { useApi } from '../api/context.ts';
import { Button, ErrorNote } from '../components/basics.tsx';
import { copyText } from '../components/copy.ts';
import { ScrollingRegion } from '../components/scrolling-region.tsx';
import styles from './exports.module.css';

type TextFormat = 'methods' | 'markdown' | 'latex';

/** Shows a text export and copies it. */
export function TextPreview({ source, format, title }: { source: ExportSource; format: TextFormat; title: string }) {
  const api = useApi();
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    let current = true;
    api.call('exports.text', { of: source, format }).then(
      (result) => current && setText(result.text),
      (cause) => current && setProblem(asFailure(cause).toApiError()),
    );
    return () => {
      current = false;
    };
  }, [api, source, format]);
  if (problem) return <ErrorNote error={problem} kind="warning" />;
  if (text === null) return <p className="faint">Loading…</p>;
  const copy = () => void copyText(text, 'Copied').then(setCopied);
  return (
    <div className={styles.preview}>
      <ScrollingRegion className={styles.text} data-form={format} aria-label={title}>
        {text}
      </ScrollingRegion>
      <Button kind="quiet" icon="copy" onClick={copy}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
