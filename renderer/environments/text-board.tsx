import styles from './text-board.module.css';

export function TextBoard({ text }: { text: string }) {
  return <pre className={styles.text}>{text}</pre>;
}
