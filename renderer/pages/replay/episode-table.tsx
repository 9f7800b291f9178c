import { memo, useMemo, useState } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { signed } from '../../components/format.ts';
import { environmentsOf, type Filter, listed, type Sort, type SortKey } from './episode-list.ts';

const filters: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'success', label: 'Success' },
  { value: 'failed', label: 'Failed' },
  { value: 'kept', label: 'Kept' },
];

const columns: { key: SortKey; label: string; title: string }[] = [
  { key: 'group', label: 'Episode', title: 'Group and member' },
  { key: 'reward', label: 'Reward', title: 'Score, penalties included' },
  { key: 'actions', label: 'Acts', title: 'Actions that were executed' },
  { key: 'tokens', label: 'Tokens', title: 'Sampled tokens' },
];

interface EpisodeTableProps {
  /** Null while they come. */
  episodes: readonly EpisodeSummary[] | null;
  current: string | null;
  onChoose: (id: string) => void;
}

export function EpisodeTable({ episodes, current, onChoose }: EpisodeTableProps) {
  const [filter, setFilter] = useState<Filter>('all');
  const [sort, setSort] = useState<Sort>({ key: 'group', descending: false });
  const [chosen, setChosen] = useState<string | null>(null);
  const environments = useMemo(() => environmentsOf(episodes ?? []), [episodes]);
  // A choice that the file shown doesn't have waits for one that has it.
  const environment = chosen !== null && environments.includes(chosen) ? chosen : null;
  const rows = useMemo(
    () => listed(episodes ?? [], filter, sort, environment),
    [episodes, filter, sort, environment],
  );
  const solved = rows.filter(({ success }) => success).length;
  return (
    <section className="episodes" aria-label="Episodes">
      <div className="episodes-tools">
        <fieldset className="segments" aria-label="Show">
          {filters.map(({ value, label }) => (
            <button
              key={value}
              type="button"
              aria-pressed={filter === value}
              onClick={() => setFilter(value)}
            >
              {label}
            </button>
          ))}
        </fieldset>
        {environments.length > 1 && (
          <label className="episodes-environment">
            <span className="visually-hidden">Environment</span>
            <select value={environment ?? ''} onChange={({ target }) => setChosen(target.value || null)}>
              <option value="">All environments</option>
              {environments.map((label) => (
                <option key={label} value={label}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
        <p className="faint" role="status">
          {episodes === null
            ? 'Loading…'
            : `${rows.length} of ${episodes.length} episodes, ${solved} successful`}
        </p>
      </div>
      <div className="episodes-scroll">
        <table className="table episode-table">
          <thead>
            <tr>
              {columns.map(({ key, label, title }) => (
                <th
                  key={key}
                  scope="col"
                  className={key === 'group' ? undefined : 'numeric'}
                  aria-sort={sort.key === key ? (sort.descending ? 'descending' : 'ascending') : undefined}
                >
                  <button
                    type="button"
                    className="sort"
                    title={title}
                    onClick={() =>
                      setSort({ key, descending: sort.key === key ? !sort.descending : key !== 'group' })
                    }
                  >
                    {label}
                    {sort.key === key && <span aria-hidden="true">{sort.descending ? ' ↓' : ' ↑'}</span>}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((episode) => (
              <Row key={episode.id} episode={episode} current={episode.id === current} onChoose={onChoose} />
            ))}
          </tbody>
        </table>
        {episodes !== null && rows.length === 0 && (
          <p className="episodes-none faint">None of these episodes.</p>
        )}
      </div>
    </section>
  );
}

interface RowProps {
  episode: EpisodeSummary;
  current: boolean;
  onChoose: (id: string) => void;
}

/** Compared by episode and choice only: the function is another one at every drawing, but does the same. */
const Row = memo(
  function Row({ episode, current, onChoose }: RowProps) {
    const { id, group, member, reward, actions, tokens, success, kept, format_valid, split } = episode;
    return (
      // The button in the row is the keyboard's way; the row itself only makes a larger target.
      <tr onClick={() => onChoose(id)} data-current={current || undefined} data-dropped={!kept || undefined}>
        <th scope="row">
          <button type="button" className="episode" aria-current={current || undefined}>
            <span className="result" data-success={success} aria-hidden="true">
              {success ? '✓' : '✕'}
            </span>
            <span aria-hidden="true">
              {split === 'train' ? `${group + 1}.${member + 1}` : `Level ${group + 1}`}
            </span>
            <span className="visually-hidden">{describe(episode)}</span>
            {!format_valid && (
              <span className="flag" title="A reply had an invalid format" aria-hidden="true">
                !
              </span>
            )}
          </button>
        </th>
        <td className="numeric">{signed(reward)}</td>
        <td className="numeric">{actions}</td>
        <td className="numeric">{tokens}</td>
      </tr>
    );
  },
  (before, after) => before.episode === after.episode && before.current === after.current,
);

/** What the row shows by number, sign and shade. */
function describe({ group, member, success, kept, format_valid }: EpisodeSummary): string {
  return [
    `Group ${group + 1}, member ${member + 1}: ${success ? 'success' : 'failed'}`,
    kept ? '' : ', dropped by the filter',
    format_valid ? '' : ', with an invalid reply',
  ].join('');
}
