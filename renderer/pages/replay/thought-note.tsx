import { IconButton } from '../../components/basics.tsx';
import styles from './thought-note.module.css';
import type { ThoughtFilter } from './use-thought-filter.ts';

export function ThoughtNote({ thought, clear }: { thought: ThoughtFilter; clear: () => void }) {
  return (
    <div className={`${styles.note} row`} role="status">
      <p title={thought.text}>
        First reasoning {thought.whole ? 'is' : 'starts with'} <q>{thought.text}</q>
      </p>
      <IconButton icon="close" label="Show all episodes" onClick={clear} />
    </div>
  );
}
