import { useCallback, useMemo, useState } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty, IconButton } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { ClipPlayer } from '../../episodes/clip/clip-player.tsx';
import { useClip } from '../../episodes/clip/use-clip.ts';
import { type EpisodeFile, episodeFiles } from '../../episodes/episode-files.ts';
import { learnedOf, type Span, spansOf } from '../../episodes/learned.ts';
import { useEpisodes } from '../../episodes/use-episodes.ts';
import type { PlayerAction } from '../../player/player.ts';
import { createReplayStore } from '../../player/replay-store.ts';
import { ReplayView } from '../../player/replay-view.tsx';
import { actTogether } from '../../player/together.ts';
import { usePlayerKeys } from '../../player/use-player.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { Side } from './side.tsx';
import styles from './then-and-now.module.css';
import { TogetherControls } from './together-controls.tsx';
import { type FirstThoughts, useFirstThoughts } from './use-first-thoughts.ts';

interface ThenAndNowPageProps {
  /** An evaluation set; null selects the first set with such levels. */
  set: string | null;
  /** Counted from 1; null selects the first level that was learned. */
  level: number | null;
}

/** Plays a level that the policy first failed and later solved, side by side. Must be inside a RunView. */
export function ThenAndNowPage({ set, level }: ThenAndNowPageProps) {
  const runId = useRun((state) => state.runId);
  const name = useRunSummary(runId)?.name ?? runId;
  const loaded = useRun((state) => state.loaded);
  const rollouts = useRun((state) => state.rollouts);
  const evaluations = useRun((state) => state.evaluations);
  const files = useMemo(() => episodeFiles(rollouts, evaluations), [rollouts, evaluations]);
  const spans = useMemo(() => spansOf(files), [files]);
  const span = spans.find((each) => each.set === set) ?? spans[0] ?? null;
  const early = useEpisodes(runId, span?.early ?? null);
  const late = useEpisodes(runId, span?.late ?? null);
  const thoughts = useFirstThoughts(runId, span ? [span.early, span.late] : []);
  useTitle(`Then and now · ${name}`);

  return (
    <div className={`page ${styles.page}`} data-narrow>
      <header className={styles.head}>
        <a className="back-link" href={formatRoute({ page: 'run', runId })}>
          <Icon name="back" size={14} />
          {name}
        </a>
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
        <Empty title="Nothing to compare yet">
          Two evaluations on the same levels are needed. The first runs before training, the next after some iterations.
        </Empty>
      )}
      {span && early && late && thoughts && (
        <Levels key={span.set} {...{ files, span, early, late, thoughts, level }} />
      )}
    </div>
  );
}

interface LevelsProps {
  files: readonly EpisodeFile[];
  span: Span;
  early: readonly EpisodeSummary[];
  late: readonly EpisodeSummary[];
  thoughts: FirstThoughts;
  level: number | null;
}

function Levels({ files, span, early, late, thoughts, level }: LevelsProps) {
  const runId = useRun((state) => state.runId);
  const learned = useMemo(() => learnedOf(early, late, thoughts), [early, late, thoughts]);
  const [stores] = useState(() => [createReplayStore(), createReplayStore()] as const);
  const act = useCallback((action: PlayerAction) => actTogether(stores, action), [stores]);
  usePlayerKeys(act);
  const at = Math.max(
    0,
    learned.findIndex(({ group }) => group + 1 === level),
  );
  const pair = learned[at];
  const go = (to: number) =>
    navigate({ page: 'then-and-now', runId, set: span.set, level: learned[to]!.group + 1 }, true);

  if (!pair)
    return (
      <Empty title="No level went from failed to solved">
        Of {late.length} levels, none was failed by checkpoint {span.early.iteration} and solved by checkpoint{' '}
        {span.late.iteration}.
      </Empty>
    );
  return (
    <>
      {level !== null && pair.group + 1 !== level && (
        <p className={styles.missing} role="status">
          Level {level} was not learned between checkpoints {span.early.iteration} and {span.late.iteration}. Showing
          level {pair.group + 1}.
        </p>
      )}
      <div className={styles.choice}>
        <IconButton icon="back" label="Previous level" disabled={at === 0} onClick={() => go(at - 1)} />
        <label>
          <span className="visually-hidden">Level</span>
          <select value={at} onChange={({ target }) => go(Number(target.value))}>
            {learned.map(({ group, late: { actions } }, index) => (
              <option key={group} value={index}>
                Level {group + 1}, {actions} {actions === 1 ? 'action' : 'actions'}
              </option>
            ))}
          </select>
        </label>
        <IconButton icon="chevron" label="Next level" disabled={at === learned.length - 1} onClick={() => go(at + 1)} />
        <span className="muted">
          Learned: {learned.length} of {late.length} levels
        </span>
      </div>
      <div className={styles.sides}>
        <ReplayView store={stores[0]}>
          <Side title="Then" file={span.early} episodeId={pair.early.id} />
        </ReplayView>
        <ReplayView store={stores[1]}>
          <Side title="Now" file={span.late} episodeId={pair.late.id} />
        </ReplayView>
        <ClipPanel files={files} span={span} level={pair.group + 1} />
      </div>
      <TogetherControls stores={stores} act={act} />
    </>
  );
}

interface ClipPanelProps {
  files: readonly EpisodeFile[];
  span: Span;
  level: number;
}

/** Shows a clip of the same level at the checkpoints in between. */
function ClipPanel({ files, span: { set, late }, level }: ClipPanelProps) {
  const runId = useRun((state) => state.runId);
  const name = useRunSummary(runId)?.name ?? runId;
  const result = useClip({ runId, files, set, upTo: late.iteration, level });
  return (
    <section className={`panel ${styles.clip}`}>
      <h2>Over time</h2>
      <ClipPlayer runId={runId} name={name} result={result} />
    </section>
  );
}
