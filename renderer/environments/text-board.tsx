import styles from './text-board.module.css';

/** A state as it was recorded, where there is no drawing of it. */
export function TextBoard({ text }: { text: string }) {
  return <pre className={styles.text}>{text}</pre>;
}
