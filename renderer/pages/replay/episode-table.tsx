import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, type KeyboardEvent, type MouseEvent, memo, useEffect, useRef } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { isScored, ResultMark, resultWord, rewardText, voidText } from '../../components/episode-result.tsx';
import { observeWithFallback } from '../../components/observe-with-fallback.ts';
import type { Listing, SortKey } from './episode-list.ts';
import { EpisodeTools } from './episode-tools.tsx';

const columns: { key: SortKey; label: string; title: string }[] = [
  { key: 'group', label: 'Episode', title: 'Group and member' },
  { key: 'reward', label: 'Reward', title: 'Reward, including penalties' },
  { key: 'actions', label: 'Actions', title: 'Executed actions' },
  { key: 'tokens', label: 'Tokens', title: 'Sampled tokens' },
];

/** Row height in pixels, as in replay.css. */
const rowHeight = 28;

interface EpisodeTableProps {
  /** All episodes; null while loading. */
  episodes: readonly EpisodeSummary[] | null;
  /** The episodes to show, in order. */
  rows: readonly EpisodeSummary[];
  listing: Listing;
  onList: (listing: Listing) => void;
  current: string | null;
  /** Returns the address of an episode's replay. */
  addressOf: (id: string) => string;
  onChoose: (id: string) => void;
}

/** Shows a virtualized table with one Tab stop: the arrow keys select the previous or next episode. */
export function EpisodeTable(props: EpisodeTableProps) {
  const { episodes, rows, listing, onList, current, addressOf, onChoose } = props;
  const { sort } = listing;
  const scroller = useRef<HTMLDivElement>(null);
  const selected = rows.findIndex(({ id }) => id === current);
  /** Index of the row in the Tab order. */
  const reachable = Math.max(0, selected);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]!.id,
    estimateSize: () => rowHeight,
    overscan: 8,
    // The row in the Tab order and its neighbors are always rendered, for the arrow keys.
    rangeExtractor: (range) => withNeighbors(range, reachable),
    observeElementRect: observeWithFallback,
  });

  // Scroll to the selected episode, even if it was selected elsewhere.
  useEffect(() => {
    const box = scroller.current;
    const index = rows.findIndex(({ id }) => id === current);
    if (!box || index < 0) return;
    const head = box.querySelector('thead')?.clientHeight ?? 0;
    const top = head + index * rowHeight;
    const above = top - head < box.scrollTop;
    const below = top + rowHeight > box.scrollTop + box.clientHeight;
    if (above || below) box.scrollTo({ top: top - box.clientHeight / 2 });
  }, [current, rows]);

  const visible = virtual.getVirtualItems();

  function move(event: KeyboardEvent<HTMLElement>): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const to = rows[reachable + by];
    if (!to) return;
    const row = event.currentTarget.querySelector(`[aria-rowindex="${rowIndex(reachable + by)}"]`);
    row?.querySelector('a')?.focus();
    onChoose(to.id);
  }

  return (
    <section className="episodes" aria-label="Episodes">
      <EpisodeTools episodes={episodes} rows={rows} listing={listing} onList={onList} />
      <div className="episodes-scroll" ref={scroller}>
        <table className="table episode-table" aria-rowcount={rows.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
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
            {visible.map(({ index, key, start }, at) => (
              <Fragment key={key}>
                <Gap height={start - (visible[at - 1]?.end ?? 0)} />
                <Row
                  episode={rows[index]!}
                  index={index}
                  current={index === selected}
                  reachable={index === reachable}
                  address={addressOf(rows[index]!.id)}
                  onChoose={onChoose}
                />
              </Fragment>
            ))}
            <Gap height={virtual.getTotalSize() - (visible.at(-1)?.end ?? 0)} />
          </tbody>
        </table>
        {episodes !== null && rows.length === 0 && (
          <p className="episodes-none faint">No episodes match these filters.</p>
        )}
      </div>
    </section>
  );
}

/** Returns the one-based row number, which includes the header. */
const rowIndex = (index: number) => index + 2;

/** Returns the visible rows, plus a row and its neighbors. */
function withNeighbors(range: Range, row: number): number[] {
  const beside = [row - 1, row, row + 1].filter((index) => index >= 0 && index < range.count);
  return [...new Set([...defaultRangeExtractor(range), ...beside])].sort((a, b) => a - b);
}

/** Takes the space of rows that are not rendered. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without links can't be focused
  return <tr className="episodes-gap" aria-hidden="true" style={{ height }} />;
}

interface RowProps {
  episode: EpisodeSummary;
  index: number;
  current: boolean;
  /** True if the row is in the Tab order. */
  reachable: boolean;
  address: string;
  onChoose: (id: string) => void;
}

/** Compared by displayed values: the callbacks change with every render but do the same. */
const Row = memo(
  function Row({ episode, index, current, reachable, address, onChoose }: RowProps) {
    const { id, group, member, actions, tokens, kept, format_valid, split } = episode;
    const choose = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      onChoose(id);
    };
    return (
      // The link is for the keyboard; the row is a larger click target.
      <tr
        aria-rowindex={rowIndex(index)}
        onClick={choose}
        data-current={current || undefined}
        data-dropped={!kept || undefined}
      >
        <th scope="row">
          <a href={address} className="episode" tabIndex={reachable ? 0 : -1} aria-current={current || undefined}>
            <ResultMark episode={episode} />
            <span aria-hidden="true">{split === 'train' ? `${group + 1}.${member + 1}` : `Level ${group + 1}`}</span>
            <span className="visually-hidden">{describe(episode)}</span>
            {!format_valid && isScored(episode) && (
              <span className="flag" title="A response had an invalid format" aria-hidden="true">
                !
              </span>
            )}
          </a>
        </th>
        <td className="numeric">{rewardText(episode)}</td>
        <td className="numeric">{actions}</td>
        <td className="numeric">{tokens}</td>
      </tr>
    );
  },
  (before, after) =>
    before.episode === after.episode &&
    before.index === after.index &&
    before.current === after.current &&
    before.reachable === after.reachable &&
    before.address === after.address,
);

function describe(episode: EpisodeSummary): string {
  const { group, member, kept, format_valid, split } = episode;
  const name = split === 'train' ? `Group ${group + 1}, episode ${member + 1}` : `Level ${group + 1}`;
  if (episode.void) return `${name}: void, ${voidText(episode.void)}`;
  return [
    `${name}: ${resultWord(episode)}`,
    kept ? '' : ', not trained on',
    format_valid ? '' : ', with an invalid response',
  ].join('');
}
