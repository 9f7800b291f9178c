import styles from './text-board.module.css';

/** Shows a recorded state as text. */
export function TextBoard({ text }: { text: string }) {
  return <pre className={styles.text}>{text}</pre>;
}
