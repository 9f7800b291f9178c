import { useEffect, useMemo, useState } from 'react';
import type { EpisodeSummary, OwnEnvironment, WatchedEpisodes } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button, Progress } from '../../components/basics.tsx';
import { isScored, ResultTag, rewardText } from '../../components/episode-result.tsx';
import { ago, number, signed } from '../../components/format.ts';
import { Histogram } from '../../components/histogram.tsx';
import { hasPolicy } from '../../components/run-facts.ts';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { Section } from '../../components/section.tsx';
import { numeric, TableHead } from '../../components/table-head.tsx';
import { useTaskProgress } from '../../dialogs/task-progress.tsx';
import { ReplayView, useCurrentTurn, useReplay } from '../../player/replay-view.tsx';
import { Stage } from '../../player/stage.tsx';
import { usePlayer } from '../../player/use-player.ts';
import { useApp, useListedRuns, useRunSummary } from '../../stores/app-store.ts';
import { useQuery } from '../../stores/use-query.ts';
import styles from './environments.module.css';

type Policy = WatchedEpisodes['policy'];

/** Lets a policy play ten episodes, and shows their rewards, lengths and boards. */
export function WatchPanel({ environment: { id, name } }: { environment: OwnEnvironment }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const stored = useQuery('environments.watched', { id }, 0).value;
  const [newer, setNewer] = useState<WatchedEpisodes | null>(null);
  const [running, setRunning] = useState(false);
  const [policy, setPolicy] = useState<Policy>(null);
  const task = useTaskProgress('environment_watch', null);
  const watched = newer ?? stored?.watched ?? null;
  const watch = () => {
    setRunning(true);
    api
      .call('environments.watch', { id, policy })
      .then(setNewer)
      .catch((cause) => !cause.code?.endsWith('_canceled') && report(cause))
      .finally(() => setRunning(false));
  };
  const cancel = () => {
    if (task) api.call('tasks.cancel', { taskId: task.id }).catch(report);
  };
  return (
    <Section
      title="Watch a policy"
      action={
        <div className="row wrap">
          <PolicyChoice policy={policy} onChoose={setPolicy} disabled={running} />
          {running ? (
            <Button icon="stop" onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button writes icon="play" onClick={watch}>
              Play ten episodes
            </Button>
          )}
        </div>
      }
    >
      {running && (
        <div role="status" className={styles.progress}>
          <span className="muted">The policy plays {name}…</span>
          <Progress value={task?.share ?? 0} label={`Episodes of ${name}`} />
        </div>
      )}
      {watched ? (
        <ReplayView key={watched.time}>
          <Watched id={id} watched={watched} />
        </ReplayView>
      ) : (
        !running && (
          <p className="muted">
            Shows how often the policy succeeds before training, how long its episodes are in tokens, and whether
            rewards differ. Equal rewards give no learning signal.
          </p>
        )
      )}
    </Section>
  );
}

interface PolicyChoiceProps {
  policy: Policy;
  onChoose: (policy: Policy) => void;
  disabled: boolean;
}

function PolicyChoice({ policy, onChoose, disabled }: PolicyChoiceProps) {
  const { runs } = useListedRuns();
  const [run, setRun] = useState('');
  const { value, fresh } = useQuery('play.choices', run === '' ? null : { runId: run }, 0);
  const checkpoints = run !== '' && fresh ? (value?.checkpoints ?? []) : [];
  const newest = checkpoints[0];
  const chosen = policy?.run === run ? policy.checkpoint : undefined;
  useEffect(() => {
    if (run !== '' && chosen === undefined && newest !== undefined) onChoose({ run, checkpoint: newest });
  }, [run, chosen, newest, onChoose]);
  return (
    <>
      <label className="choice">
        Policy
        <select
          className={styles.policy}
          value={run}
          disabled={disabled}
          onChange={({ target }) => {
            setRun(target.value);
            onChoose(null);
          }}
        >
          <option value="">Starter policy</option>
          {runs?.filter(hasPolicy).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {run !== '' && (
        <label className="choice">
          Checkpoint
          <select
            value={chosen ?? ''}
            disabled={disabled || checkpoints.length === 0}
            onChange={({ target }) => onChoose({ run, checkpoint: Number(target.value) })}
          >
            {checkpoints.length === 0 && <option value="">none</option>}
            {checkpoints.map((iteration) => (
              <option key={iteration} value={iteration}>
                {iteration === 0 ? 'before training' : `iteration ${iteration}`}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

function Watched({ id, watched }: { id: string; watched: WatchedEpisodes }) {
  const { episodes, policy, time, temperature, warnings } = watched;
  const run = useRunSummary(policy?.run ?? '');
  const scored = useMemo(() => episodes.filter(isScored), [episodes]);
  const [selected, select] = useState(scored[0]?.id ?? null);
  const successes = scored.filter(({ success }) => success).length;
  const voids = episodes.length - scored.length;
  const who = policy ? `${run?.name ?? policy.run}, checkpoint ${policy.checkpoint}` : 'Starter policy';
  return (
    <div className={styles.watched}>
      <p className="muted small">
        {who}, temperature {temperature}, {ago(time, Date.now())}
      </p>
      {warnings.map((warning) => (
        <p key={warning} className={styles.warning} role="status">
          {warning}
        </p>
      ))}
      <dl className={styles.figures}>
        <Figure title="Succeeded" value={`${successes} of ${scored.length}`} />
        <Figure title="Mean reward" value={signed(mean(scored, 'reward'))} />
        <Figure title="Mean length" value={`${number(mean(scored, 'tokens'))} tokens`} />
        <Figure title="Mean turns" value={number(mean(scored, 'turns'))} />
        {voids > 0 && <Figure title="Void" value={`${voids} of ${episodes.length}`} />}
      </dl>
      <div className={styles.histograms}>
        <Histogram title="Reward" values={scored.map(({ reward }) => reward)} unit="episodes" />
        <Histogram title="Sampled tokens" values={scored.map(({ tokens }) => tokens)} unit="episodes" />
      </div>
      <div className={styles.episodes}>
        <Episodes episodes={episodes} selected={selected} onSelect={select} />
        <Player id={id} episodeId={selected} />
      </div>
    </div>
  );
}

const Figure = ({ title, value }: { title: string; value: string }) => (
  <div>
    <dt>{title}</dt>
    <dd>{value}</dd>
  </div>
);

const mean = (episodes: readonly EpisodeSummary[], key: 'reward' | 'tokens' | 'turns') =>
  episodes.length === 0 ? Number.NaN : episodes.reduce((sum, each) => sum + each[key], 0) / episodes.length;

interface EpisodesProps {
  episodes: readonly EpisodeSummary[];
  selected: string | null;
  onSelect: (id: string) => void;
}

function Episodes({ episodes, selected, onSelect }: EpisodesProps) {
  return (
    <ScrollingRegion className={styles.list} aria-label="Episodes">
      <table className="table" aria-label="Episodes of the policy">
        <TableHead columns={['Level', 'Result', numeric('Reward'), numeric('Turns'), numeric('Tokens')]} />
        <tbody>
          {episodes.map((episode) => (
            <tr key={episode.id} data-current={episode.id === selected || undefined}>
              <th scope="row">
                <button
                  type="button"
                  className="button"
                  data-kind="quiet"
                  aria-pressed={episode.id === selected}
                  onClick={() => onSelect(episode.id)}
                >
                  Level {episode.group + 1}
                </button>
              </th>
              <td>
                <ResultTag episode={episode} />
              </td>
              <td className="numeric">{rewardText(episode)}</td>
              <td className="numeric">{episode.turns}</td>
              <td className="numeric">{episode.tokens}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollingRegion>
  );
}

/** Plays an episode, with the response of its current turn. */
function Player({ id, episodeId }: { id: string; episodeId: string | null }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const show = useReplay((state) => state.show);
  const replay = useReplay((state) => state.replay);
  const turn = useCurrentTurn();
  usePlayer();
  useEffect(() => {
    if (episodeId === null) return;
    let active = true;
    api.call('environments.replay', { id, episodeId }).then((next) => active && show(next), report);
    return () => {
      active = false;
    };
  }, [api, id, episodeId, show, report]);
  if (!replay) return null;
  const response = replay.turns[turn]?.response;
  return (
    <div className={styles.player}>
      <Stage replay={replay} loading={replay.summary.id !== episodeId} />
      {response !== undefined && (
        <figure className={styles.response}>
          <figcaption className="faint small">Response of turn {turn + 1}</figcaption>
          <pre>{response}</pre>
        </figure>
      )}
    </div>
  );
}
