import type { ReactNode } from 'react';
import styles from './models-page.module.css';

/** A table in a panel that scrolls sideways where it has to; by the keyboard too. */
export function ScrollingTable({ labelledBy, children }: { labelledBy: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={`panel table-panel ${styles.scroller}`} aria-labelledby={labelledBy} tabIndex={0}>
      <table className="table" aria-labelledby={labelledBy}>
        {children}
      </table>
    </section>
  );
}
