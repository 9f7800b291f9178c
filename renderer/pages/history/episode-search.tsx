import { useEffect, useMemo, useState } from 'react';
import type { FoundEpisode, Input, Output } from '../../../core/contract/contract.ts';
import { isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button, Empty } from '../../components/basics.tsx';
import { signed } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { inOrder } from '../../components/in-order.ts';
import { SearchField } from '../../components/search-field.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './history.module.css';

/** Episodes per page of results, and the delay in ms after typing before a search starts. */
const pageSize = 50;
const searchDelay = 120;

type Outcome = 'all' | 'success' | 'failure';
const outcomeLabels: Record<Outcome, string> = { all: 'All', success: 'Successes', failure: 'Failures' };

/** Searches the model's responses in all runs. A result opens its replay. */
export function EpisodeSearch() {
  const runs = useApp((state) => state.runs);
  const [text, setText] = useState('');
  const [runId, setRunId] = useState('');
  const [environment, setEnvironment] = useState('');
  const [ended, setEnded] = useState<Outcome>('all');
  const environments = useMemo(() => [...new Set(runs?.flatMap((run) => run.environments))].sort(), [runs]);
  const { found, more, fetchMore } = useEpisodes({ text, runId, environment, ended });
  return (
    <>
      <search className={`${styles.filters} row wrap`}>
        <SearchField
          value={text}
          label="Search episode text"
          placeholder="Words, or a “phrase in quotes”"
          onChange={setText}
        />
        <label>
          <span className="visually-hidden">Run</span>
          <select className={styles.select} value={runId} onChange={({ target }) => setRunId(target.value)}>
            <option value="">All runs</option>
            {runs?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {environments.length > 1 && (
          <fieldset className={styles.chips} aria-label="Environment">
            {environments.map((type) => (
              <button
                key={type}
                type="button"
                className="toggle"
                aria-pressed={environment === type}
                onClick={() => setEnvironment(environment === type ? '' : type)}
              >
                {environmentTitle(type)}
              </button>
            ))}
          </fieldset>
        )}
        <fieldset className={styles.chips} aria-label="Outcome">
          {(Object.keys(outcomeLabels) as Outcome[]).map((each) => (
            <button
              key={each}
              type="button"
              className="toggle"
              aria-pressed={ended === each}
              onClick={() => setEnded(each)}
            >
              {outcomeLabels[each]}
            </button>
          ))}
        </fieldset>
        <span className={styles.found} role="status">
          {found && progressText(found)}
        </span>
      </search>
      {found && found.episodes.length === 0 && (
        <div className="panel">
          {found.indexed === 0 && found.pending === 0 ? (
            <Empty title="No episodes yet">Episodes appear here after the first evaluation or rollout.</Empty>
          ) : (
            <Empty title="No matching episodes">Try fewer words, or all runs.</Empty>
          )}
        </div>
      )}
      {found && found.episodes.length > 0 && (
        <ul className={`panel ${styles.episodes}`} aria-label="Episodes">
          {found.episodes.map((episode) => (
            <li key={`${episode.runId} ${episode.episodeId}`}>
              <Episode episode={episode} />
            </li>
          ))}
        </ul>
      )}
      {more && (
        <div className={styles.more}>
          <Button onClick={fetchMore}>Show more</Button>
        </div>
      )}
    </>
  );
}

function progressText({ indexed, pending }: Pick<Output<'episodes.search'>, 'indexed' | 'pending'>): string {
  const searched = `${indexed.toLocaleString('en')} ${indexed === 1 ? 'episode' : 'episodes'} searched`;
  if (pending === 0) return searched;
  return `Indexing… ${pending.toLocaleString('en')} ${pending === 1 ? 'file' : 'files'} left`;
}

function Episode({ episode }: { episode: FoundEpisode }) {
  const { runId, run, iteration, split, episodeId, environment, success, reward, excerpt } = episode;
  return (
    <a
      className={styles.episode}
      data-success={success || undefined}
      href={formatRoute({ page: 'replay', runId, episodeId })}
    >
      <Icon name={success ? 'ok' : 'close'} size={14} />
      <span className={styles.excerpt}>
        <span className="visually-hidden">{success ? 'Success: ' : 'Failure: '}</span>
        <Highlighted text={excerpt} />
      </span>
      <span className={`${styles.source} muted small`}>
        {run}, iteration {iteration}, {split === 'train' ? 'training' : 'evaluation'}, {environmentTitle(environment)},
        reward {signed(reward)}
      </span>
    </a>
  );
}

/** Highlights matches, which the server marks with control characters. */
function Highlighted({ text }: { text: string }) {
  return inOrder(text.split('\u0002'), (part, index) => {
    const [found = '', rest = ''] = index === 0 ? ['', part] : part.split('\u0003');
    return (
      <span>
        {found && <mark>{found}</mark>}
        {rest}
      </span>
    );
  });
}

interface Query {
  text: string;
  runId: string;
  environment: string;
  ended: Outcome;
}

const fail = (cause: unknown) => !isConnectionLost(cause) && useApp.getState().report(cause);

interface Found {
  query: Omit<Input<'episodes.search'>, 'offset'>;
  answer: Output<'episodes.search'>;
}

/** Returns the results of the newest query. Earlier results stay while it is pending. */
function useEpisodes({ text, runId, environment, ended }: Query) {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const [found, setFound] = useState<Found | null>(null);
  const query = useMemo(
    () => ({
      text,
      limit: pageSize,
      ...(runId && { runId }),
      ...(environment && { environment }),
      ...(ended !== 'all' && { success: ended === 'success' }),
    }),
    [text, runId, environment, ended],
  );
  useEffect(() => {
    if (connection !== 'open') return;
    let newest = true;
    const timer = setTimeout(() => {
      api.call('episodes.search', query).then((answer) => newest && setFound({ query, answer }), fail);
    }, searchDelay);
    return () => {
      newest = false;
      clearTimeout(timer);
    };
  }, [api, connection, query]);
  const fetchMore = () => {
    if (!found) return;
    const { query: shownQuery, answer } = found;
    // Ignore a repeated response and a response to an earlier query.
    const append = (next: Found['answer']) =>
      setFound((previous) =>
        previous?.answer === answer
          ? { query: shownQuery, answer: { ...next, episodes: [...answer.episodes, ...next.episodes] } }
          : previous,
      );
    api.call('episodes.search', { ...shownQuery, offset: answer.episodes.length }).then(append, fail);
  };
  return { found: found?.answer ?? null, more: found?.answer.more ?? false, fetchMore };
}
