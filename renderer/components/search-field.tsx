import { Icon } from './icon.tsx';
import styles from './search-field.module.css';

interface SearchFieldProps {
  value: string;
  label: string;
  placeholder: string;
  onChange: (text: string) => void;
}

export function SearchField({ value, label, placeholder, onChange }: SearchFieldProps) {
  return (
    <label className={`${styles.search} row`}>
      <Icon name="search" />
      <input
        type="search"
        value={value}
        placeholder={placeholder}
        aria-label={label}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
