import type { ReactNode } from 'react';
import styles from './section.module.css';

interface SectionProps {
  title: string;
  /** A button beside the title. */
  action?: ReactNode;
  children: ReactNode;
}

/** Shows a titled part of a page that consists of text and controls. */
export function Section({ title, action, children }: SectionProps) {
  return (
    <section className={`panel ${styles.section}`} aria-label={title}>
      <div className={styles.head}>
        <h2>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
}

/** Shows names and values in two columns. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '…'}</dd>
        </div>
      ))}
    </dl>
  );
}
