import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { EpisodeSummary, RolloutBoards } from '../../core/contract/contract.ts';
import { navigate } from '../base/router.ts';
import { formatRoute, type Route } from '../base/routes.ts';
import { useTheme } from '../base/theme.ts';
import { resultWord, voidText } from '../components/episode-result.tsx';
import { number, signed } from '../components/format.ts';
import { useWidth } from '../components/use-width.ts';
import { type Group, groupsOf, solvedText } from '../player/groups.ts';
import { paintingOfBoards } from '../player/paintings.ts';
import styles from './wall.module.css';
import { gap, layoutWall, type WallLayout } from './wall-layout.ts';
import { type WallBoard, WallPlayer } from './wall-player.ts';

interface WallFieldProps {
  runId: string;
  boards: RolloutBoards;
  playing: boolean;
  /** Replays the boards each time it increases. */
  round?: number | undefined;
  /** Height in CSS pixels. Default: depends on the window. */
  height?: number | undefined;
  /** Reduced motion: show the final frames only. */
  still: boolean;
  /** Called when new boards start to play. */
  onStart: () => void;
  /** Called when all boards have shown their final frames. */
  onEnd: () => void;
}

/** Draws all boards on a canvas. Each group has a link with a text alternative. */
export function WallField({
  runId,
  boards,
  playing,
  round,
  height: fixedHeight,
  still,
  onStart,
  onEnd,
}: WallFieldProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  // Measured before the first paint, because a wall of unknown width would be very high.
  const { ref: field, width } = useWidth();
  const groups = useMemo(() => groupsOf(boards.episodes.map(({ summary }) => summary)), [boards]);
  const painted = useMemo(() => wallBoards(boards, groups), [boards, groups]);
  const layout = useMemo(() => {
    // A void episode may have no board.
    const scene = (painted.find(({ result }) => result !== 'void') ?? painted[0])?.painting.scene;
    const members = Math.max(1, ...groups.map((group) => group.members.length));
    const height = fixedHeight ?? Math.min(440, Math.max(200, 0.38 * innerHeight));
    return layoutWall({
      ...{ groups: groups.length, members, width, height },
      aspect: scene ? scene.width / scene.height : 1,
    });
  }, [painted, groups, width, fixedHeight]);
  const player = useRef<WallPlayer>(null);
  const callbacks = useRef({ onStart, onEnd });
  callbacks.current = { onStart, onEnd };

  useEffect(() => {
    const wallPlayer = new WallPlayer(canvas.current!, () => callbacks.current.onEnd());
    player.current = wallPlayer;
    const stopImages = wallPlayer.followImages();
    return () => {
      stopImages();
      wallPlayer.pause();
    };
  }, []);

  const shown = useRef<readonly WallBoard[] | null>(null);
  useEffect(() => {
    const wallPlayer = player.current!;
    const changed = shown.current !== painted;
    shown.current = painted;
    if (changed) wallPlayer.show(painted, layout);
    else wallPlayer.place(layout);
    if (changed) callbacks.current.onStart();
    if (!still) return;
    wallPlayer.finish();
    callbacks.current.onEnd();
  }, [painted, layout, still]);
  // The canvas is drawn in the theme's colors.
  useEffect(() => useTheme.subscribe(() => player.current!.place(layout)), [layout]);

  const visible = useVisible(field);
  const moving = playing && visible && !still;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new boards start to play
  useEffect(() => (moving ? player.current!.play() : player.current!.pause()), [moving, painted]);
  useEffect(() => {
    if (round) player.current!.restart();
  }, [round]);

  return (
    <div className={styles.field} ref={field} style={{ height: Math.max(layout.total, fixedHeight ?? 0) }}>
      <canvas ref={canvas} className={styles.canvas} style={{ height: layout.total }} />
      <GroupLinks runId={runId} iteration={boards.iteration} groups={groups} layout={layout} />
    </div>
  );
}

/** Groups narrower than these, in CSS pixels, have a shorter caption. */
const shortWidth = 130;
const narrowWidth = 250;

interface GroupLinksProps {
  runId: string;
  iteration: number;
  groups: Group[];
  layout: WallLayout;
}

/**
 * Links to the groups, and to the episodes by their boards. All groups are one Tab stop; the arrow keys move between
 * them.
 */
function GroupLinks({ runId, iteration, groups, layout }: GroupLinksProps) {
  const [focused, setFocused] = useState(0);
  const current = Math.min(focused, groups.length - 1);
  const hasGroups = groups.some(({ members }) => members.length > 1);
  const toEpisode = (id: string) => ({ page: 'replay', runId, episodeId: id }) as const;

  /** A level of an evaluation has a single episode, so it links to that. */
  const toGroup = ({ group, members }: Group): Route =>
    members.length > 1 ? { page: 'group', runId, iteration, group: group + 1 } : toEpisode(members[0]!.id);

  function move(event: KeyboardEvent<HTMLUListElement>): void {
    const to = targetIndex(event.key, current, groups.length, layout);
    if (to === null) return;
    event.preventDefault();
    setFocused(to);
    event.currentTarget.querySelectorAll('a')[to]?.focus();
  }

  /** Returns the episode under the pointer, if any. */
  function memberAt(event: MouseEvent<HTMLAnchorElement>, { members }: Group) {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const column = Math.floor((event.clientX - left) / (layout.width + gap));
    const row = Math.floor((event.clientY - top - layout.caption) / (layout.height + gap));
    return row < 0 ? undefined : members[row * layout.across + column];
  }

  return (
    <ul className={styles.groups} onKeyDown={move} aria-label={hasGroups ? 'Groups' : 'Levels'}>
      {groups.map((group, at) => {
        const { x, y, width, height } = layout.groups[at]!;
        return (
          <li key={group.group} style={{ left: x, top: y, width, height }}>
            <a
              className={styles.group}
              href={formatRoute(toGroup(group))}
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
                  ? `Episode ${group.group + 1}.${member.member + 1}: ${describeMember(member)}`
                  : describe(group);
              }}
            >
              <span className="visually-hidden">{describe(group)}</span>
              {layout.caption > 0 && (
                <span className={`${styles.caption} muted small`} aria-hidden="true">
                  <strong>{width < shortWidth ? group.group + 1 : `Group ${group.group + 1}`}</strong>
                  <span>
                    {group.solved}/{group.members.length - group.voids} {width >= shortWidth && 'solved'}
                    {group.voids > 0 && width >= narrowWidth && `, ${group.voids} void`}
                  </span>
                  {group.zeroVariance && (
                    <span className={styles.same}>{width < narrowWidth ? '=' : '= zero variance'}</span>
                  )}
                </span>
              )}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function targetIndex(key: string, current: number, count: number, { groups }: WallLayout): number | null {
  const columns = Math.max(1, groups.filter(({ y }) => y === groups[0]?.y).length);
  const to = {
    ...{ ArrowLeft: current - 1, ArrowRight: current + 1 },
    ...{ ArrowUp: current - columns, ArrowDown: current + columns },
    ...{ Home: 0, End: count - 1 },
  }[key];
  return to === undefined ? null : Math.min(count - 1, Math.max(0, to));
}

function describeMember(member: EpisodeSummary): string {
  if (member.void) return `void, ${voidText(member.void)}`;
  return `${member.success ? 'solved' : 'not solved'}, reward ${signed(member.reward)}`;
}

function describe(all: Group): string {
  const { group, members, rewardStd, zeroVariance, kept } = all;
  if (members.length === 1) return `Level ${group + 1}: ${describeMember(members[0]!)}`;
  return [
    `Group ${group + 1}: ${solvedText(all)}`,
    zeroVariance ? ', all rewards equal' : rewardStd === null ? '' : `, reward std ${number(rewardStd)}`,
    kept ? '' : ', not trained on',
  ].join('');
}

function wallBoards(boards: RolloutBoards, groups: readonly Group[]): WallBoard[] {
  const indices = new Map(groups.map(({ group }, index) => [group, index]));
  return boards.episodes.map((episode) => ({
    painting: paintingOfBoards(boards, episode),
    level: `${episode.type} ${episode.boards[0]} ${episode.arms?.join() ?? ''}`,
    result: resultWord(episode.summary),
    group: indices.get(episode.summary.group)!,
    member: episode.summary.member,
  }));
}

/** Returns whether any part of the element is visible. */
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
