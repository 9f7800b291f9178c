import { useId, useMemo, useSyncExternalStore } from 'react';
import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { showSection } from '../../components/run-sections.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { ClipPlayer } from '../../episodes/clip/clip-player.tsx';
import { useClip } from '../../episodes/clip/use-clip.ts';
import { type EpisodeFile, episodeFiles } from '../../episodes/episode-files.ts';
import { spansOf } from '../../episodes/learned.ts';
import { useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { useRun } from '../../views/run-view.tsx';
import styles from './finish.module.css';
import { clipEnd, describeResult, type Learned, learnedIn, resultSentence, successChange } from './outcome.ts';
import { type Idea, ideasFor, sampleIdeas } from './what-next.ts';

/** Shows the result of a completed run, to share, and suggests next steps. */
export function Finish({ run }: { run: RunSummary }) {
  const title = useId();
  const series = useRun((state) => state.series);
  const levels = useRun(({ config }) => levelsOf(config));
  const rollouts = useRun((state) => state.rollouts);
  useSyncExternalStore(series.subscribe, () => series.version);
  const learned = run.status === 'completed' ? learnedIn(series) : [];
  const files = useMemo(() => episodeFiles(rollouts, []), [rollouts]);
  const compared = useMemo(() => spansOf(files).length > 0, [files]);
  if (learned.length === 0) return null;
  const facts = describeResult(run, levels);
  const isSample = run.id === sampleRunId;
  return (
    <section className={`panel ${styles.finish}`} aria-labelledby={title}>
      <div className={styles.result}>
        <h2 id={title} className="visually-hidden">
          Result
        </h2>
        {learned.map((each) => (
          <p key={each.label} className={`${styles.figure} wrap`}>
            {learned.length > 1 && <span className={styles.label}>{environmentTitle(each.label)}</span>}
            <strong>{successChange(each)}</strong>
          </p>
        ))}
        <p className="muted">{facts}</p>
        <div className={`${styles.share} wrap`}>
          <CopyResult text={resultSentence(run, learned, facts)} />
          {compared && (
            <a className="button" href={formatRoute({ page: 'then-and-now', runId: run.id, set: null, level: null })}>
              <Icon name="compare" size={14} />
              Then and now
            </a>
          )}
        </div>
      </div>
      <div className={styles.next}>
        <h2>{isSample ? 'Explore' : 'What to try next'}</h2>
        <ul>
          {(isSample ? sampleIdeas(run) : ideasFor(run, learned)).map((idea) => (
            <li key={idea.label}>
              <span className="muted">{idea.why}</span> <IdeaLink run={run} idea={idea} />
            </li>
          ))}
        </ul>
      </div>
      <div className={styles.clip}>
        <FinishClip run={run} files={files} learned={learned[0]!} />
      </div>
    </section>
  );
}

interface FinishClipProps {
  run: RunSummary;
  files: readonly EpisodeFile[];
  learned: Learned;
}

/** Shows a clip of one level, from before training to the best checkpoint. */
function FinishClip({ run, files, learned }: FinishClipProps) {
  const result = useClip({ runId: run.id, files, set: learned.label, upTo: clipEnd(learned), level: null });
  return <ClipPlayer runId={run.id} name={run.name} result={result} />;
}

function IdeaLink({ run, idea: { label, to } }: { run: RunSummary; idea: Idea }) {
  const openDialog = useDialogs((state) => state.openDialog);
  if ('href' in to) return <a href={to.href}>{label}</a>;
  const onClick = () => {
    if (to.section === 'train-more') openDialog({ kind: 'train-more', run });
    else if (to.section === 'evaluations') showSection(run.id, to.section);
    else document.querySelector('[data-echo-trap]')?.scrollIntoView({ block: 'start' });
  };
  return (
    <button type="button" className={styles.link} onClick={onClick}>
      {label}
    </button>
  );
}

function CopyResult({ text }: { text: string }) {
  const { report, notify } = useApp.getState();
  const copy = () => navigator.clipboard.writeText(text).then(() => notify('Result copied'), report);
  return (
    <Button icon="copy" onClick={() => void copy()} title={text}>
      Copy result
    </Button>
  );
}

function levelsOf(config: unknown): number | null {
  const levels = (config as { evaluation?: { levels?: unknown } } | null)?.evaluation?.levels;
  return typeof levels === 'number' ? levels : null;
}
