import type { RunSummary } from '../../core/contract/contract.ts';
import { formatRoute, type Route } from '../router.ts';
import { useApp, useListedRuns } from '../stores/app-store.ts';
import { useTheme } from '../theme.ts';
import { IconButton, Progress, StatusDot, statusWords } from './basics.tsx';
import { percent } from './format.ts';
import { Icon } from './icon.tsx';
import { isAlarm, sinceWords, stateWords, toneIcons } from './trap-words.ts';

const connectionWords = {
  connecting: 'Connecting',
  open: 'Connected',
  lost: 'Reconnecting',
  refused: 'Not connected',
  'signed-out': 'Not signed in',
  untrusted: 'Not connected',
} as const;

export function Sidebar({ route }: { route: Route }) {
  const { runs, archived } = useListedRuns();
  const { showArchived, toggleArchived } = useApp();
  const connection = useApp((state) => state.connection);
  const { theme, toggle } = useTheme();
  const openRun = 'runId' in route ? route.runId : null;
  return (
    <nav className="sidebar" aria-label="Main">
      <a className="brand" href="#/start">
        <img src="./favicon.svg" alt="" width="22" height="22" />
        <span className="wide">StarPO Studio</span>
      </a>
      <a
        className="nav-link"
        href="#/start"
        aria-current={route.page === 'start' ? 'page' : undefined}
        title="Start"
      >
        <Icon name="start" />
        <span className="wide">Start</span>
      </a>
      <a
        className="nav-link"
        href="#/studies"
        aria-current={route.page === 'studies' || route.page === 'study' ? 'page' : undefined}
        title="Studies"
      >
        <Icon name="study" />
        <span className="wide">Studies</span>
      </a>
      <a
        className="nav-link"
        href="#/play"
        aria-current={route.page === 'play' ? 'page' : undefined}
        title="Play"
      >
        <Icon name="play" />
        <span className="wide">Play</span>
      </a>
      <a
        className="nav-link"
        href="#/models"
        aria-current={route.page === 'models' ? 'page' : undefined}
        title="Models"
      >
        <Icon name="model" />
        <span className="wide">Models</span>
      </a>
      <h2 className="nav-heading">
        <span className="wide">Runs</span>
        {runs && runs.length > 0 && <span className="faint wide">{runs.length}</span>}
      </h2>
      <ul className="run-list">
        {runs?.map((run) => (
          <li key={run.id}>
            <RunLink run={run} current={run.id === openRun} />
          </li>
        ))}
      </ul>
      {archived > 0 && (
        <button
          type="button"
          className="nav-archived wide"
          aria-pressed={showArchived}
          onClick={toggleArchived}
        >
          {showArchived ? 'Hide' : 'Show'} {archived} archived
        </button>
      )}
      {runs?.length === 0 && archived === 0 && (
        <p className="nav-empty wide">None yet. Pick a preset and press Start.</p>
      )}
      <footer className="sidebar-foot">
        <span className="connection" data-state={connection} role="status">
          <span className="status-dot" aria-hidden="true" />
          <span className="wide">{connectionWords[connection]}</span>
        </span>
        <IconButton
          icon={theme === 'dark' ? 'sun' : 'moon'}
          label={theme === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
          onClick={toggle}
        />
      </footer>
    </nav>
  );
}

/** Of a run that is in the Echo Trap, or near it. */
function TrapMark({ run: { trap } }: { run: RunSummary }) {
  if (!trap || !isAlarm(trap.state)) return null;
  const { word, tone } = stateWords[trap.state];
  const said = `Echo Trap: ${word.toLowerCase()} ${sinceWords(trap)}`;
  return (
    <span className="run-link-trap" data-tone={tone} title={said}>
      <Icon name={toneIcons[tone]} size={13} />
      <span className="visually-hidden">{said}</span>
    </span>
  );
}

/** Letters that are never cut off: the blank and what core puts behind a preset's title. */
const endOfName = 5;

function RunLink({ run, current }: { run: RunSummary; current: boolean }) {
  const active = run.status === 'running' || run.status === 'paused';
  const success = run.latest['rollout/success_rate'];
  return (
    <a
      className="run-link"
      data-archived={run.marks.archived || undefined}
      href={formatRoute({ page: 'run', runId: run.id })}
      aria-current={current ? 'page' : undefined}
      title={`${run.name}: ${statusWords[run.status]}, iteration ${run.iteration} of ${run.iterations}`}
    >
      <StatusDot status={run.status} stalled={run.stalled !== null} />
      <span className="run-link-name wide">
        {run.marks.starred && (
          <>
            <Icon name="start" size={11} />
            <span className="visually-hidden">Starred: </span>
          </>
        )}
        <span className="run-link-stem">{run.name.slice(0, -endOfName)}</span>
        {run.name.slice(-endOfName)}
      </span>
      <span className="visually-hidden">{statusWords[run.status]}</span>
      <TrapMark run={run} />
      <span className="run-link-detail wide">
        {run.queuePosition !== null
          ? `Queue ${run.queuePosition}`
          : active
            ? `${run.iteration} / ${run.iterations}`
            : success === undefined
              ? statusWords[run.status]
              : percent(success, 0)}
      </span>
      {active && (
        <span className="run-link-progress wide">
          <Progress
            value={run.iteration / run.iterations}
            label={`Progress of ${run.name}`}
            status={run.status}
          />
        </span>
      )}
    </a>
  );
}
