import { useMemo } from 'react';
import type { ExportSource } from '../../../core/contract/contract.ts';
import styles from '../../exports/exports.module.css';
import { FormatRow } from '../../exports/format-row.tsx';
import type { Format } from '../../exports/formats.ts';
import { useExport } from '../../exports/use-export.ts';

const formats: readonly Format[] = [
  {
    format: 'markdown',
    title: 'Results, Markdown',
    text: 'Success per setting before and after training, with 95 % intervals from three seeds on.',
    isText: true,
  },
  {
    format: 'csv',
    title: 'Runs, CSV',
    text: 'One row per run: settings, seed, success before and after training, and the iteration of a collapse.',
  },
  { format: 'latex', title: 'Results, LaTeX', text: 'The same table for booktabs.', isText: true },
];

export function StudyExports({ studyId }: { studyId: string }) {
  const exporting = useExport(null);
  const source = useMemo<ExportSource>(() => ({ studyId }), [studyId]);
  return (
    <section className={`panel ${styles.group}`} aria-label="Export">
      <h2>Export</h2>
      <ul>
        {formats.map((format) => (
          <FormatRow key={format.format} format={format} source={source} exporting={exporting} />
        ))}
      </ul>
    </section>
  );
}
