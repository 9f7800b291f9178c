import { useCallback, useMemo, useState } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { hasEnded } from '../../../core/contract/run-facts.ts';
import { navigate } from '../../base/router.ts';
import { useTitle } from '../../base/title.ts';
import { BackToRun } from '../../components/back-to-run.tsx';
import { Empty, IconButton } from '../../components/basics.tsx';
import { ClipPlayer } from '../../episodes/clip/clip-player.tsx';
import { useClip } from '../../episodes/clip/use-clip.ts';
import { type EpisodeFile, episodeFiles } from '../../episodes/episode-files.ts';
import { type ChangedLevel, changedLevels, type Span, type SuccessAt, spansOf } from '../../episodes/learned.ts';
import { useEpisodes } from '../../episodes/use-episodes.ts';
import type { PlayerAction } from '../../player/player.ts';
import { createReplayStore } from '../../player/replay-store.ts';
import { ReplayView } from '../../player/replay-view.tsx';
import { actTogether } from '../../player/together.ts';
import { usePlayerKeys } from '../../player/use-player.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun, useSeries } from '../../views/run-view.tsx';
import { Side } from './side.tsx';
import styles from './then-and-now.module.css';
import { TogetherControls } from './together-controls.tsx';
import { type FirstThoughts, useFirstThoughts } from './use-first-thoughts.ts';

interface ThenAndNowPageProps {
  /** An evaluation set; null selects the first set with two checkpoints. */
  set: string | null;
  /** Counted from 1; null selects the first level whose result changed. */
  level: number | null;
}

/**
 * Plays a level that the policy learned or lost at the first and the newest checkpoint, side by side, and at the best one if
 * success dropped after it. Must be inside a RunView.
 */
export function ThenAndNowPage({ set, level }: ThenAndNowPageProps) {
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const name = run?.name ?? runId;
  const loaded = useRun((state) => state.loaded);
  const rollouts = useRun((state) => state.rollouts);
  const evaluations = useRun((state) => state.evaluations);
  const files = useMemo(() => episodeFiles(rollouts, evaluations), [rollouts, evaluations]);
  const series = useSeries();
  const successAt: SuccessAt = (label, iteration) => series.get(`evaluation/${label}/success_rate`)?.at(iteration);
  const spans = spansOf(files, successAt);
  const span = spans.find((each) => each.set === set) ?? spans[0] ?? null;
  const early = useEpisodes(runId, span?.early ?? null);
  const best = useEpisodes(runId, span?.best ?? null);
  const late = useEpisodes(runId, span?.late ?? null);
  const thoughts = useFirstThoughts(runId, span ? [span.early, ...(span.best ? [span.best] : []), span.late] : []);
  useTitle(`Then and now · ${name}`);

  return (
    <div className={`page ${styles.page}`} data-narrow>
      <header className={styles.head}>
        <BackToRun runId={runId} name={name} />
        <h1>Then and now</h1>
        <span className="spacer" />
        {span && spans.length > 1 && (
          <label className={styles.choice}>
            <span>Evaluation</span>
            <select
              value={span.set}
              onChange={({ target }) => navigate({ page: 'then-and-now', runId, set: target.value, level: null }, true)}
            >
              {spans.map((each) => (
                <option key={each.set} value={each.set}>
                  {each.title}
                </option>
              ))}
            </select>
          </label>
        )}
      </header>
      {loaded && !span && (
        <Empty title="Nothing to compare">
          This page needs the episodes of two evaluations on the same levels.
          {!(run && hasEnded(run)) && ' The first runs before training, the next after some iterations.'}
        </Empty>
      )}
      {span && early && late && thoughts && (best || !span.best) && (
        <Levels key={`${span.set} ${span.best?.iteration}`} {...{ files, span, early, best, late, thoughts, level }} />
      )}
    </div>
  );
}

interface LevelsProps {
  files: readonly EpisodeFile[];
  span: Span;
  early: readonly EpisodeSummary[];
  best: readonly EpisodeSummary[] | null;
  late: readonly EpisodeSummary[];
  thoughts: FirstThoughts;
  level: number | null;
}

function Levels({ files, span, early, best, late, thoughts, level }: LevelsProps) {
  const runId = useRun((state) => state.runId);
  const levels = useMemo(() => changedLevels(early, best, late, thoughts), [early, best, late, thoughts]);
  const sides = sidesOf(span);
  const [stores] = useState(() => sides.map(() => createReplayStore()));
  const act = useCallback((action: PlayerAction) => actTogether(stores, action), [stores]);
  usePlayerKeys(act);
  const at = Math.max(
    0,
    levels.findIndex(({ group }) => group + 1 === level),
  );
  const shown = levels[at];
  const go = (to: number) =>
    navigate({ page: 'then-and-now', runId, set: span.set, level: levels[to]!.group + 1 }, true);

  if (!shown)
    return (
      <Empty title="No level was learned or lost">
        {late.length === 1 ? 'The level has' : `Each of ${late.length} levels has`} the same result at checkpoints{' '}
        {span.early.iteration} and {span.late.iteration}.
      </Empty>
    );
  return (
    <>
      {level !== null && shown.group + 1 !== level && (
        <p className={styles.missing} role="status">
          Level {level} was not learned or lost between checkpoints {span.early.iteration} and {span.late.iteration}.
          Showing level {shown.group + 1}.
        </p>
      )}
      <div className={styles.choice}>
        <IconButton icon="back" label="Previous level" disabled={at === 0} onClick={() => go(at - 1)} />
        <label>
          <span className="visually-hidden">Level</span>
          <select value={at} onChange={({ target }) => go(Number(target.value))}>
            {levels.map((each, index) => (
              <option key={each.group} value={index}>
                {levelText(each)}
              </option>
            ))}
          </select>
        </label>
        <IconButton icon="chevron" label="Next level" disabled={at === levels.length - 1} onClick={() => go(at + 1)} />
        <span className="muted">{countsText(levels, late.length)}</span>
      </div>
      <div className={styles.sides} data-three={span.best ? '' : undefined}>
        {sides.map(({ title, of, file }, index) => {
          const episode = shown[of];
          return (
            episode && (
              <ReplayView key={of} store={stores[index]!}>
                <Side title={title} file={file} episodeId={episode.id} />
              </ReplayView>
            )
          );
        })}
        <ClipPanel files={files} span={span} level={shown.group + 1} />
      </div>
      <TogetherControls stores={stores} act={act} />
    </>
  );
}

interface SideOf {
  title: string;
  of: 'early' | 'best' | 'late';
  file: EpisodeFile;
}

const sidesOf = ({ early, best, late }: Span): SideOf[] => [
  { title: 'Then', of: 'early', file: early },
  ...(best ? [{ title: 'Best', of: 'best' as const, file: best }] : []),
  { title: 'Now', of: 'late', file: late },
];

/** Describes a level: `Level 17, 4 actions, learned and lost`. The actions are those of the newest checkpoint that solved it. */
function levelText({ group, change, early, best, late }: ChangedLevel): string {
  const solved = [late, best, early].find((episode) => episode?.success);
  const actions = solved ? `, ${count(solved.actions, 'action')}` : '';
  return `Level ${group + 1}${actions}${change === 'learned' ? '' : `, ${change}`}`;
}

/** Describes all changes: `Learned: 60 of 128 levels, 55 of them lost again. Lost: 3.` */
function countsText(levels: readonly ChangedLevel[], total: number): string {
  const count = (change: ChangedLevel['change']) => levels.filter((level) => level.change === change).length;
  const [again, lost] = [count('learned and lost'), count('lost')];
  const learned = count('learned') + again;
  return [
    `Learned: ${learned} of ${total} ${total === 1 ? 'level' : 'levels'}`,
    again > 0 ? `, ${again} of them lost again` : '',
    lost > 0 ? `. Solved at first and lost: ${lost}` : '',
  ].join('');
}

interface ClipPanelProps {
  files: readonly EpisodeFile[];
  span: Span;
  level: number;
}

/** Shows a clip of the same level at the checkpoints in between. */
function ClipPanel({ files, span: { set, best, late }, level }: ClipPanelProps) {
  const runId = useRun((state) => state.runId);
  const name = useRunSummary(runId)?.name ?? runId;
  const result = useClip({ runId, files, set, upTo: late.iteration, peak: best?.iteration ?? null, level });
  return (
    <section className={`panel ${styles.clip}`}>
      <h2>Over time</h2>
      <ClipPlayer runId={runId} name={name} result={result} />
    </section>
  );
}
