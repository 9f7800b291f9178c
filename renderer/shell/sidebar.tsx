import { useMemo } from 'react';
import { factsOf } from '../../core/contract/commands.ts';
import type { RunSummary } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { formatRoute, type Route } from '../base/routes.ts';
import { useTheme } from '../base/theme.ts';
import { keyLabels } from '../commands/commands.ts';
import { Keys } from '../commands/keys-dialog.tsx';
import { IconButton, Progress, runLabel, StatusDot } from '../components/basics.tsx';
import { percent } from '../components/format.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { shortened, shortParts, successOf } from '../components/run-facts.ts';
import { isAlarm, levelLabel, sinceText, toneIcons } from '../components/trap-labels.ts';
import { useApp, useListedRuns } from '../stores/app-store.ts';
import { useDialogs } from '../stores/dialogs-store.ts';

const connectionLabels = {
  connecting: 'Connecting',
  open: 'Connected',
  lost: 'Reconnecting',
  refused: 'Not connected',
  'signed-out': 'Not signed in',
  untrusted: 'Not connected',
} as const;

const entries: { page: Route['page']; title: string; icon: IconName; route: Route }[] = [
  { page: 'start', title: 'Start', icon: 'start', route: { page: 'start' } },
  { page: 'history', title: 'History', icon: 'history', route: { page: 'history', tab: 'runs' } },
  { page: 'studies', title: 'Sweeps', icon: 'study', route: { page: 'studies' } },
  { page: 'compare', title: 'Compare', icon: 'compare', route: { page: 'compare', runIds: [] } },
  { page: 'play', title: 'Play', icon: 'game', route: { page: 'play' } },
  { page: 'models', title: 'Models', icon: 'model', route: { page: 'models' } },
];

function belongsTo(route: Route, page: Route['page']): boolean {
  if (route.page === 'new') return page === (route.study ? 'studies' : 'start');
  return route.page === page || (page === 'studies' && route.page === 'study');
}

/** Maximum number of runs in the sidebar; History lists all. */
const maxListed = 60;

/** Returns the newest runs, and those that are active, starred or open. */
function shortList(runs: readonly RunSummary[], open: string | null): readonly RunSummary[] {
  const isRelevant = ({ id, status, marks }: RunSummary) =>
    id === open || marks.starred || isLive(status) || status === 'queued';
  return runs.filter((run, index) => index < maxListed || isRelevant(run));
}

export function Sidebar({ route }: { route: Route }) {
  const { runs, archived } = useListedRuns();
  const { showArchived, toggleArchived } = useApp();
  const connection = useApp((state) => state.connection);
  const { theme, toggle } = useTheme();
  const openRun = ('runId' in route && route.runId) || null;
  const listed = useMemo(() => shortList(runs ?? [], openRun), [runs, openRun]);
  return (
    <nav className="sidebar column" aria-label="Main">
      <a className="brand row" href="#/start">
        <img src="./favicon.svg" alt="" width="22" height="22" />
        <span className="wide">StarPO Studio</span>
      </a>
      {entries.map(({ page, title, icon, route: to }) => (
        <a
          key={page}
          className="nav-link"
          href={formatRoute(to)}
          aria-current={belongsTo(route, page) ? 'page' : undefined}
          title={title}
        >
          <Icon name={icon} />
          <span className="wide">{title}</span>
        </a>
      ))}
      <button
        type="button"
        className="nav-link nav-search"
        title="Find a command or a run"
        onClick={() => useDialogs.getState().openDialog({ kind: 'palette' })}
      >
        <Icon name="search" />
        <span className="wide">Find</span>
        <span className="spacer wide" />
        <span className="wide">
          <Keys keys={keyLabels(factsOf('app.palette').keys!)} />
        </span>
      </button>
      <h2 className="nav-heading">
        <span className="wide">Runs</span>
        {runs && runs.length > 0 && <span className="faint wide">{runs.length}</span>}
      </h2>
      {runs?.length === 0 && archived === 0 && (
        <p className="nav-empty wide faint small">None yet. Pick a preset and press Start.</p>
      )}
      <ul className="run-list">
        {listed.map((run) => (
          <li key={run.id}>
            <RunLink run={run} current={run.id === openRun} />
          </li>
        ))}
        {runs && runs.length > listed.length && (
          <li>
            <a className="nav-link" href={formatRoute({ page: 'history', tab: 'runs' })}>
              <span className="wide">All {runs.length.toLocaleString('en')} runs</span>
            </a>
          </li>
        )}
      </ul>
      {archived > 0 && (
        <button
          type="button"
          className="nav-archived wide faint small"
          aria-pressed={showArchived}
          onClick={toggleArchived}
        >
          {showArchived ? 'Hide' : 'Show'} {archived} archived
        </button>
      )}
      <a
        className="nav-link"
        href="#/system"
        aria-current={route.page === 'system' ? 'page' : undefined}
        title="System"
      >
        <Icon name="system" />
        <span className="wide">System</span>
      </a>
      <footer className="sidebar-foot row">
        <span className="connection row faint small" data-state={connection} role="status">
          <span className="status-dot" aria-hidden="true" />
          <span className="wide">{connectionLabels[connection]}</span>
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

/** Marks a run with an active Echo Trap warning. */
function TrapMark({ run: { trap } }: { run: RunSummary }) {
  if (!trap || !isAlarm(trap.state)) return null;
  const { word, tone } = levelLabel(trap.state);
  const label = `Echo Trap: ${word.toLowerCase()} ${sinceText(trap)}`;
  return (
    <span className="run-link-trap" data-tone={tone} title={label}>
      <Icon name={toneIcons[tone]} size={13} />
      <span className="visually-hidden">{label}</span>
    </span>
  );
}

/** Maximum length of a name, which fits on two lines. */
const maxNameLength = 34;

function RunLink({ run, current }: { run: RunSummary; current: boolean }) {
  const active = isLive(run.status);
  const success = successOf(run).evaluation;
  const { stem, hash, study } = shortParts(run);
  return (
    <a
      className="run-link"
      data-archived={run.marks.archived || undefined}
      href={formatRoute({ page: 'run', runId: run.id })}
      aria-current={current ? 'page' : undefined}
      title={`${run.name}: ${runLabel(run)}, iteration ${run.iteration} of ${run.iterations}`}
    >
      <StatusDot run={run} />
      <span className="run-link-name wide">
        {run.marks.starred && (
          <>
            <Icon name="star" size={11} />
            <span className="visually-hidden">Starred: </span>
          </>
        )}
        {study !== null && (
          <>
            <span className="run-link-study">
              <Icon name="study" size={11} />
            </span>
            <span className="visually-hidden">{study}: </span>
          </>
        )}
        {shortened(stem, maxNameLength)} <span className="run-link-hash">{hash}</span>
      </span>
      <span className="visually-hidden">{runLabel(run)}</span>
      <TrapMark run={run} />
      <span className="run-link-detail wide faint small">
        {run.queuePosition !== null
          ? `Queue ${run.queuePosition}`
          : active
            ? `${run.iteration} / ${run.iterations}`
            : success === undefined
              ? runLabel(run)
              : percent(success, 0)}
        {success !== undefined && !active && run.queuePosition === null && (
          <span className="visually-hidden"> success in the latest evaluation</span>
        )}
      </span>
      {active && (
        <span className="run-link-progress wide">
          <Progress value={run.iteration / run.iterations} label={`Progress of ${run.name}`} status={run.status} />
        </span>
      )}
    </a>
  );
}
