import { useMemo } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { type Flag, flagsOf, type Listing } from './episode-list.ts';
import styles from './episode-tools.module.css';

interface MoreFiltersProps {
  id: string;
  episodes: readonly EpisodeSummary[];
  /** What their groups are called. */
  groupWord: string;
  listing: Listing;
  onList: (listing: Listing) => void;
}

/** Filters by group, reward, length and flags; those that are on are shown as chips, here or folded. */
export function MoreFilters({ id, episodes, groupWord, listing, onList }: MoreFiltersProps) {
  const offered = useMemo(() => flagsOf(episodes, listing), [episodes, listing]);
  const { group, reward, tokens, flags } = listing;
  const toggle = (flag: Flag) =>
    flags.includes(flag) ? flags.filter((each) => each !== flag) : [...flags, flag];
  return (
    <fieldset id={id} className={styles.fields} aria-label="More filters">
      <span>{groupWord}</span>
      <NumberField
        label={groupWord}
        words="any"
        from={1}
        value={group === null ? null : group + 1}
        onChange={(value) => onList({ ...listing, group: value === null ? null : value - 1 })}
      />
      <span />
      <span>Reward</span>
      <NumberField
        label="Reward at least"
        words="at least"
        value={reward.least}
        onChange={(least) => onList({ ...listing, reward: { ...reward, least } })}
      />
      <NumberField
        label="Reward at most"
        words="at most"
        value={reward.most}
        onChange={(most) => onList({ ...listing, reward: { ...reward, most } })}
      />
      <span>Tokens</span>
      <NumberField
        label="Tokens at least"
        words="at least"
        from={0}
        value={tokens.least}
        onChange={(least) => onList({ ...listing, tokens: { ...tokens, least } })}
      />
      <NumberField
        label="Tokens at most"
        words="at most"
        from={0}
        value={tokens.most}
        onChange={(most) => onList({ ...listing, tokens: { ...tokens, most } })}
      />
      {offered.length > 0 && (
        <div className={styles.flags}>
          {offered.map(({ value, label, title }) => (
            <button
              key={value}
              type="button"
              className="toggle"
              title={title}
              aria-pressed={flags.includes(value)}
              onClick={() => onList({ ...listing, flags: toggle(value) })}
            >
              {label}
            </button>
          ))}
        </div>
      )}
    </fieldset>
  );
}

interface NumberFieldProps {
  label: string;
  /** While it is empty. */
  words: string;
  /** The least that there can be, of a whole number; any number without it. */
  from?: number;
  value: number | null;
  onChange: (value: number | null) => void;
}

/** Empty: null. */
const NumberField = ({ label, words, from, value, onChange }: NumberFieldProps) => (
  <input
    type="number"
    aria-label={label}
    placeholder={words}
    {...(from === undefined ? { step: 'any' } : { min: from })}
    value={value ?? ''}
    onChange={({ target }) => onChange(target.value === '' ? null : Number(target.value))}
  />
);
