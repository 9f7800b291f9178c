import { type KeyboardEvent, useMemo, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { panelHashes } from '../../core/contract/panel-words.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { isAlarm } from '../../core/contract/trap-words.ts';
import { formatRoute } from '../base/routes.ts';
import { Progress, runLabel, StatusDot } from '../components/basics.tsx';
import { percent } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { initials, shortened, shortParts, successOf } from '../components/run-facts.ts';
import { sinceText, stateLabel, toneIcons } from '../components/trap-labels.ts';

/** Maximum number of runs in the sidebar; History lists all. */
const maxListed = 60;

/**
 * Returns the newest runs, and those that are active, starred or open. Active runs come first, then queued ones in the
 * order of their start.
 */
export function shortList(runs: readonly RunSummary[], open: string | null): readonly RunSummary[] {
  const isRelevant = ({ id, status, marks }: RunSummary) =>
    id === open || marks.starred || isLive(status) || status === 'queued';
  const rank = ({ status, queuePosition }: RunSummary) => (isLive(status) ? 0 : (queuePosition ?? Infinity));
  return runs
    .filter((run, index) => index < maxListed || isRelevant(run))
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

interface RunListProps {
  runs: readonly RunSummary[];
  /** Id of the run whose page is open. */
  openRun: string | null;
}

/** Lists runs as one tab stop. The arrow keys, Home and End move the focus inside. */
export function RunList({ runs, openRun }: RunListProps) {
  const listed = useMemo(() => shortList(runs, openRun), [runs, openRun]);
  const [focused, setFocused] = useState<string | null>(null);
  const tabStop = [focused, openRun].find((id) => listed.some((run) => run.id === id)) ?? listed[0]?.id;

  function onKeyDown(event: KeyboardEvent<HTMLUListElement>): void {
    const links = [...event.currentTarget.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const targets: Record<string, number> = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: links.length - 1 };
    const target = targets[event.key];
    if (at < 0 || target === undefined) return;
    event.preventDefault();
    links[target]?.focus();
  }

  return (
    <ul className="run-list" onKeyDown={onKeyDown}>
      {listed.map((run) => (
        <li key={run.id}>
          <RunLink
            run={run}
            current={run.id === openRun}
            tabStop={run.id === tabStop}
            onFocus={() => setFocused(run.id)}
          />
        </li>
      ))}
      {runs.length > listed.length && (
        <li>
          <a className="nav-link" tabIndex={-1} href={formatRoute({ page: 'history', tab: 'runs' })}>
            <span className="wide">All {runs.length.toLocaleString('en')} runs</span>
          </a>
        </li>
      )}
    </ul>
  );
}

/** Marks a run with an active Echo Trap warning. */
function TrapMark({ run: { trap } }: { run: RunSummary }) {
  if (!trap || !isAlarm(trap.state)) return null;
  const { word, tone } = stateLabel(trap.state);
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

/** Returns the run's state, and why its job waits. */
const stateText = (run: RunSummary) =>
  run.job?.phase === 'pending' ? `${runLabel(run)} (${run.job.text})` : runLabel(run);

interface RunLinkProps {
  run: RunSummary;
  current: boolean;
  /** Whether the Tab key reaches this link. */
  tabStop: boolean;
  onFocus: () => void;
}

function RunLink({ run, current, tabStop, onFocus }: RunLinkProps) {
  const active = isLive(run.status);
  const success = successOf(run).evaluation;
  const { stem, hash, study } = shortParts(run);
  const panel = panelHashes(run.panels);
  const evaluated = success === undefined ? '' : `, success ${percent(success)}${panel && ` on panel ${panel}`}`;
  return (
    <a
      className="run-link"
      data-archived={run.marks.archived || undefined}
      href={formatRoute({ page: 'run', runId: run.id })}
      aria-current={current ? 'page' : undefined}
      tabIndex={tabStop ? 0 : -1}
      onFocus={onFocus}
      title={`${run.name}: ${stateText(run)}, iteration ${run.iteration} of ${run.iterations}${evaluated}`}
    >
      <StatusDot run={run} />
      <span className="run-link-initials" aria-hidden="true">
        {initials(stem)}
      </span>
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
