import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { RolloutBoards } from '../../core/contract/contract.ts';
import { formatRoute, navigate } from '../base/router.ts';
import { useTheme } from '../base/theme.ts';
import { number, signed } from '../components/format.ts';
import { type Group, groupsOf } from '../player/groups.ts';
import { paintingOfBoards } from '../player/paintings.ts';
import styles from './wall.module.css';
import { layoutWall, type WallLayout } from './wall-layout.ts';
import { type WallBoard, WallPlayer } from './wall-player.ts';

interface WallFieldProps {
  runId: string;
  boards: RolloutBoards;
  playing: boolean;
  /** Wished for, in CSS pixels; without it as much as suits the window. */
  height?: number;
  /** No motion is wanted: the boards show how they ended. */
  still: boolean;
  /** Other boards have begun. */
  onBegin: () => void;
  /** They have shown how they ended. */
  onOver: () => void;
}

/** The boards on a canvas, and over each group a link to its episodes with what the canvas doesn't say in words. */
export function WallField({
  runId,
  boards,
  playing,
  height: wished,
  still,
  onBegin,
  onOver,
}: WallFieldProps) {
  const field = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(field);
  const groups = useMemo(() => groupsOf(boards.episodes.map(({ summary }) => summary)), [boards]);
  const painted = useMemo(() => wallBoards(boards, groups), [boards, groups]);
  const layout = useMemo(() => {
    const scene = painted[0]?.painting.scene;
    const members = Math.max(1, ...groups.map((group) => group.members.length));
    const height = wished ?? Math.min(440, Math.max(200, 0.38 * innerHeight));
    return layoutWall({
      ...{ groups: groups.length, members, width, height },
      aspect: scene ? scene.width / scene.height : 1,
    });
  }, [painted, groups, width, wished]);
  const player = useRef<WallPlayer>(null);
  const told = useRef({ onBegin, onOver });
  told.current = { onBegin, onOver };

  useEffect(() => {
    const own = new WallPlayer(canvas.current!, () => told.current.onOver());
    player.current = own;
    return () => own.pause();
  }, []);

  const shown = useRef<readonly WallBoard[] | null>(null);
  useEffect(() => {
    const own = player.current!;
    const others = shown.current !== painted;
    shown.current = painted;
    if (others) own.show(painted, layout);
    else own.place(layout);
    if (others) told.current.onBegin();
    if (!still) return;
    own.finish();
    told.current.onOver();
  }, [painted, layout, still]);
  // Other colours are another drawing.
  useEffect(() => useTheme.subscribe(() => player.current!.place(layout)), [layout]);

  const visible = useVisible(field);
  const moving = playing && visible && !still;
  useEffect(() => (moving ? player.current!.play() : player.current!.pause()), [moving]);

  return (
    <div className={styles.field} ref={field} style={{ height: layout.total }}>
      <canvas ref={canvas} className={styles.canvas} style={{ height: layout.total }} />
      <GroupLinks runId={runId} groups={groups} layout={layout} />
    </div>
  );
}

/** Width of a group, in CSS pixels, below which its caption is shortened. */
const narrow = 150;

/** One stop of the Tab key for all of them; the arrows go from group to group. */
function GroupLinks({ runId, groups, layout }: { runId: string; groups: Group[]; layout: WallLayout }) {
  const [focused, setFocused] = useState(0);
  const current = Math.min(focused, groups.length - 1);
  const toEpisode = (id: string) => ({ page: 'replay', runId, episodeId: id }) as const;

  function move(event: KeyboardEvent<HTMLUListElement>): void {
    const to = target(event.key, current, groups.length, layout);
    if (to === null) return;
    event.preventDefault();
    setFocused(to);
    event.currentTarget.querySelectorAll('a')[to]?.focus();
  }

  /** The board under the pointer, where there is one. */
  function memberAt(event: MouseEvent<HTMLAnchorElement>, { members }: Group) {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const column = Math.floor((event.clientX - left) / (layout.width + 3));
    const row = Math.floor((event.clientY - top - layout.caption) / (layout.height + 3));
    return row < 0 ? undefined : members[row * layout.across + column];
  }

  return (
    <ul className={styles.groups} onKeyDown={move} aria-label="Groups">
      {groups.map((group, at) => {
        const { x, y, width, height } = layout.groups[at]!;
        return (
          <li key={group.group} style={{ left: x, top: y, width, height }}>
            <a
              className={styles.group}
              href={formatRoute(toEpisode(group.members[0]!.id))}
              tabIndex={at === current ? 0 : -1}
              data-dropped={!group.kept || undefined}
              onFocus={() => setFocused(at)}
              onClick={(event) => {
                const member = event.detail > 0 ? memberAt(event, group) : undefined;
                if (!member || event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                navigate(toEpisode(member.id));
              }}
              onPointerMove={(event) => {
                const member = memberAt(event, group);
                event.currentTarget.title = member
                  ? `Episode ${group.group + 1}.${member.member + 1}: ${member.success ? 'solved' : 'not solved'}, reward ${signed(member.reward)}`
                  : describe(group);
              }}
            >
              <span className="visually-hidden">{describe(group)}</span>
              {layout.caption > 0 && (
                <span className={styles.caption} aria-hidden="true">
                  <strong>{group.group + 1}</strong>
                  <span>
                    {group.solved}/{group.members.length}
                  </span>
                  {group.same && <span className={styles.same}>{width < narrow ? '=' : '= no spread'}</span>}
                </span>
              )}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function target(key: string, current: number, count: number, { groups }: WallLayout): number | null {
  const columns = Math.max(1, groups.filter(({ y }) => y === groups[0]?.y).length);
  const to = {
    ...{ ArrowLeft: current - 1, ArrowRight: current + 1 },
    ...{ ArrowUp: current - columns, ArrowDown: current + columns },
    ...{ Home: 0, End: count - 1 },
  }[key];
  return to === undefined ? null : Math.min(count - 1, Math.max(0, to));
}

/** What the canvas shows of a group, in words. */
function describe({ group, members, solved, spread, same, kept }: Group): string {
  if (members.length === 1)
    return `Level ${group + 1}: ${solved ? 'solved' : 'not solved'}, reward ${signed(members[0]!.reward)}`;
  return [
    `Group ${group + 1}: ${solved} of ${members.length} solved`,
    same ? ', all rewards the same' : `, spread of rewards ${number(spread ?? 0)}`,
    kept ? '' : ', not trained on',
  ].join('');
}

function wallBoards(boards: RolloutBoards, groups: readonly Group[]): WallBoard[] {
  const places = new Map(groups.map(({ group }, place) => [group, place]));
  return boards.episodes.map((episode) => ({
    painting: paintingOfBoards(boards, episode),
    level: `${episode.type} ${episode.boards[0]} ${episode.arms?.join() ?? ''}`,
    solved: episode.summary.success,
    group: places.get(episode.summary.group)!,
    member: episode.summary.member,
  }));
}

/** Of the element, in CSS pixels; 0 until it is known. */
function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const own = element.current!;
    const measure = () => setWidth(own.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(own);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Whether any of the element is in the window. */
function useVisible(element: React.RefObject<HTMLElement | null>): boolean {
  const [visible, setVisible] = useState(true);
  useEffect(() => {
    if (!('IntersectionObserver' in globalThis)) return;
    const observer = new IntersectionObserver((entries) => setVisible(entries.at(-1)!.isIntersecting));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return visible;
}
