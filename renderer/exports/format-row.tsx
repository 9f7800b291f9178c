import { type ReactNode, useState } from 'react';
import type { ExportSource } from '../../core/contract/contract.ts';
import { inDesktop } from '../api/files.ts';
import { Button, ErrorNote, Progress } from '../components/basics.tsx';
import styles from './exports.module.css';
import type { Format } from './formats.ts';
import { TextPreview } from './text-preview.tsx';
import type { Exporting } from './use-export.ts';

interface FormatRowProps {
  format: Format;
  /** Must be referentially stable. */
  source: ExportSource;
  exporting: Exporting;
  /** Why export is disabled. */
  unavailable?: string | null;
  /** Options or notes. */
  children?: ReactNode;
}

/** Shows one export format with its description, buttons and result. */
export function FormatRow({ format, source, exporting, unavailable = null, children }: FormatRowProps) {
  const { format: name, title, text, isText } = format;
  const [open, setOpen] = useState(false);
  const busy = exporting.format === name;
  const verb = inDesktop() ? 'Save…' : 'Download';
  return (
    <li className={styles.format}>
      <div className={styles.description}>
        <h3>{title}</h3>
        <p className="muted">{text}</p>
        {children}
        {unavailable !== null && <p className="faint">{unavailable}</p>}
      </div>
      <div className={styles.actions}>
        {isText && (
          <Button kind="quiet" onClick={() => setOpen(!open)} label={`${open ? 'Hide' : 'Show'} ${title}`}>
            {open ? 'Hide' : 'Show'}
          </Button>
        )}
        {busy ? (
          <Button icon="close" onClick={exporting.cancel} label={`Cancel ${title}`}>
            Cancel
          </Button>
        ) : (
          <Button
            icon="export"
            onClick={() => void exporting.start(name, source)}
            disabled={exporting.format !== null || unavailable !== null}
            label={`${verb} ${title}`}
          >
            {verb}
          </Button>
        )}
      </div>
      <div className={`${styles.outcome} muted small`} role="status">
        {busy && exporting.task !== null && exporting.task.total > 0 && (
          <Progress value={exporting.task.done / exporting.task.total} label={`Exporting ${title}`} />
        )}
        {busy && 'Creating files…'}
        {exporting.result?.format === name && exporting.result.text}
      </div>
      {exporting.problem?.format === name && (
        <div className={styles.wide}>
          <ErrorNote error={exporting.problem.error} />
        </div>
      )}
      {isText && open && (
        <div className={styles.wide}>
          <TextPreview source={source} format={name as 'methods'} title={title} />
        </div>
      )}
    </li>
  );
}
