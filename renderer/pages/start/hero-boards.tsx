import { type ReactNode, useMemo, useState } from 'react';
import type { RolloutBoards, RunSummary, Sample } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button, StatusDot } from '../../components/basics.tsx';
import { isScored } from '../../components/episode-result.tsx';
import { groupsOf } from '../../player/groups.ts';
import { useApp } from '../../stores/app-store.ts';
import { useSample } from '../../stores/use-sample.ts';
import { useBoards } from '../../wall/use-boards.ts';
import { WallField } from '../../wall/wall-field.tsx';
import styles from './hero-boards.module.css';
import { useStartPreferences } from './start-preferences.ts';
import { useNewestRollout } from './use-newest-rollout.ts';

/** Maximum number of boards beside the form. */
const maxBoards = 16;
/** Height of the placeholder in CSS pixels. */
const fieldHeight = 236;

/**
 * Plays boards of the task's running run, otherwise of its newest run; until that one has boards, those of the next
 * newest run or, if there is none, of the sample. Renders `children` if there are no boards.
 */
export function HeroBoards({ family, children }: { family: string; children: ReactNode }) {
  const [first, second] = useOwnRuns(family);
  const rolloutOfFirst = useNewestRollout(first?.id ?? null);
  // Show the previous run's boards until a new run has its own.
  const isFirstEmpty = first === undefined || rolloutOfFirst === null;
  const sample = useVisibleSample(isFirstEmpty && second === undefined);
  const next = second ?? sample?.summary;
  const rolloutOfNext = useNewestRollout((isFirstEmpty && next?.id) || null);
  const [ended, setEnded] = useState(false);
  const { boards, of } = useBoards(
    (isFirstEmpty ? next : first)?.id ?? '',
    (isFirstEmpty ? rolloutOfNext : rolloutOfFirst) ?? null,
    ended,
  );
  const shown = useMemo(() => boards && excerpt(boards), [boards]);
  const still = useMemo(() => matchMedia('(prefers-reduced-motion: reduce)').matches, []);
  const run = [first, next].find((each) => each?.id === of);
  if (!run || !boards || !shown || shown.episodes.length === 0) return <div className={styles.still}>{children}</div>;
  return (
    <div className={styles.boards}>
      <WallField
        runId={run.id}
        boards={shown}
        playing
        height={fieldHeight}
        still={still}
        onStart={() => setEnded(false)}
        onEnd={() => setEnded(true)}
      />
      <Caption run={run} sample={run === sample?.summary ? sample : null} boards={boards} />
    </div>
  );
}

/** Returns the started runs of a task: the running one first, then the newest. */
function useOwnRuns(family: string): RunSummary[] {
  const runs = useApp((state) => state.runs) ?? [];
  const presets = useApp((state) => state.presets) ?? [];
  const ofTask = new Set(presets.filter((preset) => preset.family === family).map(({ id }) => id));
  const started = runs.filter(
    ({ preset, startedAt, marks }) => ofTask.has(preset) && startedAt !== null && !marks.archived,
  );
  const live = started.find(({ status }) => isLive(status));
  return live ? [live, ...started.filter((run) => run !== live)] : started;
}

/** Returns the sample run, unless the user has hidden it. */
function useVisibleSample(enabled: boolean): Sample | null {
  const loaded = useApp(({ runs }) => runs !== null);
  const { sampleDismissed } = useStartPreferences();
  return useSample(enabled && loaded && !sampleDismissed);
}

interface CaptionProps {
  run: RunSummary;
  /** Set if the run is the sample. */
  sample: Sample | null;
  boards: RolloutBoards;
}

function Caption({ run, sample, boards }: CaptionProps) {
  const { dismissSample } = useStartPreferences();
  const scored = boards.episodes.filter(({ summary }) => isScored(summary));
  const solved = scored.filter(({ summary }) => summary.success).length;
  return (
    <div className={styles.caption}>
      <p>
        {!sample && <StatusDot run={run} />} <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>
        <span className="muted">
          , iteration {boards.iteration}: {solved} of {scored.length} solved
        </span>
      </p>
      {sample && (
        <Button kind="quiet" onClick={dismissSample}>
          Hide the sample run
        </Button>
      )}
    </div>
  );
}

/** Selects the groups closest to a 50 % success rate, complete if they fit; for an evaluation, its first levels. */
export function excerpt(boards: RolloutBoards): RolloutBoards {
  const groups = groupsOf(boards.episodes.map(({ summary }) => summary)).filter(
    ({ voids, members }) => voids < members.length,
  );
  const evenness = (solved: number, members: number) => Math.abs(solved / members - 0.5);
  const byEvenness = groups.toSorted(
    (a, b) => evenness(a.solved, a.members.length) - evenness(b.solved, b.members.length),
  );
  const members = groups[0]?.members.length ?? 1;
  const chosen = (members > 1 ? byEvenness : groups).slice(0, Math.max(1, Math.floor(maxBoards / members)));
  const selected = new Set(chosen.flatMap((group) => group.members.slice(0, maxBoards).map(({ id }) => id)));
  return { ...boards, episodes: boards.episodes.filter(({ summary }) => selected.has(summary.id)) };
}
