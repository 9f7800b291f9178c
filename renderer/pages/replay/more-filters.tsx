import { useMemo } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { type Flag, flagsOf, type Listing } from './episode-list.ts';
import styles from './episode-tools.module.css';

interface MoreFiltersProps {
  id: string;
  episodes: readonly EpisodeSummary[];
  /** "Group" or "Level". */
  groupWord: string;
  listing: Listing;
  onList: (listing: Listing) => void;
}

/** Filters by group, reward, tokens and flags. Active ones are shown as chips. */
export function MoreFilters({ id, episodes, groupWord, listing, onList }: MoreFiltersProps) {
  const offered = useMemo(() => flagsOf(episodes, listing), [episodes, listing]);
  const { group, reward, tokens, flags } = listing;
  const toggle = (flag: Flag) => (flags.includes(flag) ? flags.filter((each) => each !== flag) : [...flags, flag]);
  return (
    <fieldset id={id} className={`${styles.fields} muted small`} aria-label="More filters">
      <span>{groupWord}</span>
      <NumberField
        label={groupWord}
        placeholder="any"
        from={1}
        value={group === null ? null : group + 1}
        onChange={(value) => onList({ ...listing, group: value === null ? null : value - 1 })}
      />
      <span />
      <span>Reward</span>
      <NumberField
        label="Minimum reward"
        placeholder="min"
        value={reward.least}
        onChange={(least) => onList({ ...listing, reward: { ...reward, least } })}
      />
      <NumberField
        label="Maximum reward"
        placeholder="max"
        value={reward.most}
        onChange={(most) => onList({ ...listing, reward: { ...reward, most } })}
      />
      <span>Tokens</span>
      <NumberField
        label="Minimum tokens"
        placeholder="min"
        from={0}
        value={tokens.least}
        onChange={(least) => onList({ ...listing, tokens: { ...tokens, least } })}
      />
      <NumberField
        label="Maximum tokens"
        placeholder="max"
        from={0}
        value={tokens.most}
        onChange={(most) => onList({ ...listing, tokens: { ...tokens, most } })}
      />
      {offered.length > 0 && (
        <div className={`${styles.flags} wrap`}>
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
  placeholder: string;
  /** Minimum of an integer field; without it, any number is allowed. */
  from?: number;
  value: number | null;
  onChange: (value: number | null) => void;
}

const NumberField = ({ label, placeholder, from, value, onChange }: NumberFieldProps) => (
  <input
    type="number"
    aria-label={label}
    placeholder={placeholder}
    {...(from === undefined ? { step: 'any' } : { min: from })}
    value={value ?? ''}
    onChange={({ target }) => onChange(target.value === '' ? null : Number(target.value))}
  />
);
