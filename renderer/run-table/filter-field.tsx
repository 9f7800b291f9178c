import { SearchField } from '../components/search-field.tsx';
import styles from './filter-field.module.css';

interface FilterFieldProps {
  value: string;
  problem: string | null;
  onChange: (text: string) => void;
}

const examples = 'All words must match. Also: lr=3e-4, success>50%, tag=baseline, -status=failed, /regular expression/';

/** Filters runs by text, in the syntax of filter-text.ts. */
export const FilterField = ({ value, problem, onChange }: FilterFieldProps) => (
  <div className={styles.field} title={examples}>
    <SearchField value={value} label="Search runs" placeholder="Name, tag, lr=3e-4, /regex/…" onChange={onChange} />
    <p className={styles.problem} role="status">
      {problem}
    </p>
  </div>
);
