import { useId, useMemo, useState } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { Icon } from '../../components/icon.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { environmentsOf, filters, filtersOn, type Listing } from './episode-list.ts';
import styles from './episode-tools.module.css';
import { MoreFilters } from './more-filters.tsx';

interface EpisodeToolsProps {
  /** All episodes; null while loading. */
  episodes: readonly EpisodeSummary[] | null;
  /** The episodes that match. */
  rows: readonly EpisodeSummary[];
  listing: Listing;
  onList: (listing: Listing) => void;
}

/** Filters of the list: common ones, more when expanded, and the active ones as chips. */
export function EpisodeTools({ episodes, rows, listing, onList }: EpisodeToolsProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const environments = useMemo(() => environmentsOf(episodes ?? []), [episodes]);
  const solved = rows.filter(({ success }) => success).length;
  const groupWord = episodes?.[0]?.split === 'train' ? 'Group' : 'Level';
  const on = filtersOn(listing, groupWord);
  return (
    <div className="episodes-tools">
      <fieldset className="segments" aria-label="Result">
        {filters.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            aria-pressed={listing.filter === value}
            onClick={() => onList({ ...listing, filter: value })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      {environments.length > 1 && (
        <label className="episodes-environment">
          <span className="visually-hidden">Environment</span>
          <select
            value={listing.environment ?? ''}
            onChange={({ target }) => onList({ ...listing, environment: target.value || null })}
          >
            <option value="">All environments</option>
            {environments.map((label) => (
              <option key={label} value={label}>
                {environmentTitle(label)}
              </option>
            ))}
          </select>
        </label>
      )}
      <button
        type="button"
        className={styles.more}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="chevron" size={11} />
        More filters
      </button>
      {open && (
        <MoreFilters
          id={id}
          episodes={episodes ?? []}
          groupWord={groupWord}
          listing={listing}
          onList={onList}
        />
      )}
      {on.length > 0 && (
        <ul className={styles.on} aria-label="Active filters">
          {on.map(({ words, without }) => (
            <li key={words} className="tag run-tag">
              {words}
              <button type="button" aria-label={`Remove filter: ${words}`} onClick={() => onList(without)}>
                <Icon name="close" size={10} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <p className="faint" role="status">
        {episodes === null
          ? 'Loading…'
          : `${rows.length} of ${episodes.length} episodes, ${solved} successful`}
      </p>
    </div>
  );
}
