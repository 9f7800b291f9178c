import type { ImportNote } from '../../../core/contract/contract.ts';
import styles from './import-notes.module.css';

const groups: readonly { kind: ImportNote['kind']; title: string }[] = [
  { kind: 'changed', title: 'changed in form or meaning' },
  { kind: 'no_counterpart', title: 'without counterpart' },
  { kind: 'default', title: 'from defaults, not set in the files' },
  { kind: 'mapped', title: 'with the same meaning' },
];

/** Lists what became of the settings of another trainer, by kind. */
export function ImportNotes({ notes }: { notes: readonly ImportNote[] }) {
  return (
    <section className={styles.notes} aria-label="Imported settings">
      {groups.map(({ kind, title }) => {
        const texts = notes.filter((note) => note.kind === kind).map(({ text }) => text);
        return (
          texts.length > 0 && (
            <details key={kind}>
              <summary>
                {texts.length} {title}
              </summary>
              <ul>
                {texts.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </details>
          )
        );
      })}
    </section>
  );
}
