import { type KeyboardEvent, type MouseEvent, memo, useEffect, useMemo, useRef } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { signed } from '../../components/format.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { environmentsOf, filters, type Listing, type SortKey } from './episode-list.ts';

const columns: { key: SortKey; label: string; title: string }[] = [
  { key: 'group', label: 'Episode', title: 'Group and member' },
  { key: 'reward', label: 'Reward', title: 'Score, penalties included' },
  { key: 'actions', label: 'Moves', title: 'Actions that were executed' },
  { key: 'tokens', label: 'Tokens', title: 'Sampled tokens' },
];

interface EpisodeTableProps {
  /** All there are; null while they come. */
  episodes: readonly EpisodeSummary[] | null;
  /** Those of the listing, in its order. */
  rows: readonly EpisodeSummary[];
  listing: Listing;
  onList: (listing: Listing) => void;
  current: string | null;
  /** The address of an episode's replay. */
  addressOf: (id: string) => string;
  onChoose: (id: string) => void;
}

/** One stop of the Tab key: the arrows go from episode to episode, and each that they reach comes on the stage. */
export function EpisodeTable(props: EpisodeTableProps) {
  const { episodes, rows, listing, onList, current, addressOf, onChoose } = props;
  const { filter, sort } = listing;
  const environments = useMemo(() => environmentsOf(episodes ?? []), [episodes]);
  const solved = rows.filter(({ success }) => success).length;
  const scroller = useRef<HTMLDivElement>(null);
  const reachable = rows.some(({ id }) => id === current) ? current : rows[0]?.id;

  // What is on the stage is in sight, also where it wasn't chosen here.
  useEffect(() => {
    const box = scroller.current;
    const place = rows.findIndex(({ id }) => id === current);
    const row = box?.querySelectorAll<HTMLElement>('tbody tr')[place];
    if (!box || !row) return;
    const head = box.querySelector('thead')?.clientHeight ?? 0;
    const above = row.offsetTop - head < box.scrollTop;
    const below = row.offsetTop + row.clientHeight > box.scrollTop + box.clientHeight;
    if (above || below) box.scrollTo({ top: row.offsetTop - box.clientHeight / 2 });
  }, [current, rows]);

  function move(event: KeyboardEvent<HTMLElement>): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const to = by && rows[rows.findIndex(({ id }) => id === reachable) + by];
    if (!by) return;
    event.preventDefault();
    if (!to) return;
    const links = [...event.currentTarget.querySelectorAll('a')];
    links[rows.indexOf(to)]?.focus();
    onChoose(to.id);
  }

  return (
    <section className="episodes" aria-label="Episodes">
      <div className="episodes-tools">
        <fieldset className="segments" aria-label="Show">
          {filters.map(({ value, label }) => (
            <button
              key={value}
              type="button"
              aria-pressed={filter === value}
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
        <p className="faint" role="status">
          {episodes === null
            ? 'Loading…'
            : `${rows.length} of ${episodes.length} episodes, ${solved} successful`}
        </p>
      </div>
      <div className="episodes-scroll" ref={scroller}>
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
                      onList({
                        ...listing,
                        sort: { key, descending: sort.key === key ? !sort.descending : key !== 'group' },
                      })
                    }
                  >
                    {label}
                    {sort.key === key && <span aria-hidden="true">{sort.descending ? ' ↓' : ' ↑'}</span>}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody onKeyDown={move}>
            {rows.map((episode) => (
              <Row
                key={episode.id}
                episode={episode}
                current={episode.id === current}
                reachable={episode.id === reachable}
                address={addressOf(episode.id)}
                onChoose={onChoose}
              />
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
  /** By the Tab key. */
  reachable: boolean;
  address: string;
  onChoose: (id: string) => void;
}

/** Compared by what it shows: the function is another one at every drawing, but does the same. */
const Row = memo(
  function Row({ episode, current, reachable, address, onChoose }: RowProps) {
    const { id, group, member, reward, actions, tokens, success, kept, format_valid, split } = episode;
    const choose = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      onChoose(id);
    };
    return (
      // The link in the row is the keyboard's way; the row itself only makes a larger target.
      <tr onClick={choose} data-current={current || undefined} data-dropped={!kept || undefined}>
        <th scope="row">
          <a
            href={address}
            className="episode"
            tabIndex={reachable ? 0 : -1}
            aria-current={current || undefined}
          >
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
          </a>
        </th>
        <td className="numeric">{signed(reward)}</td>
        <td className="numeric">{actions}</td>
        <td className="numeric">{tokens}</td>
      </tr>
    );
  },
  (before, after) =>
    before.episode === after.episode &&
    before.current === after.current &&
    before.reachable === after.reachable &&
    before.address === after.address,
);

/** What the row shows by number, sign and shade. */
function describe({ group, member, success, kept, format_valid }: EpisodeSummary): string {
  return [
    `Group ${group + 1}, member ${member + 1}: ${success ? 'success' : 'failed'}`,
    kept ? '' : ', not trained on',
    format_valid ? '' : ', with an invalid reply',
  ].join('');
}
