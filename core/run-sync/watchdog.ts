import { processState } from '../base/process.ts';
import type { Phase, Stall } from '../contract/contract.ts';
import { phaseTitle } from '../contract/run-facts.ts';
import type { RunRow } from '../history/runs-table.ts';
import { isLocal } from './liveness.ts';

/** Shortest silence (ms) that is a stall. Loading and writing a checkpoint write no events until they are done. */
const shortestStall = 60_000;
const shortestStallOfQuietPhase = 300_000;
const quietPhases: readonly string[] = ['load', 'checkpoint'];
/** Silence (ms) that is a stall for any run. */
const longestSilence = 1_800_000;
/** A silence is a stall if it is this many times as long as the longest before it. */
const factor = 10;

/** Returns the milliseconds of a clock that pauses while the machine sleeps; otherwise waking up would look like a stall. */
export type Clock = () => number;

/**
 * Detects hanging trainers: a working trainer writes up to four `phase` events per second, so a long silence indicates a problem.
 * The limit follows from the run's own pace.
 */
export class Watchdog {
  private readonly clock: Clock;
  /** Clock time of the last event, by run. */
  private readonly activeAt = new Map<string, number>();

  constructor(clock: Clock = () => performance.now()) {
    this.clock = clock;
  }

  /** Call when a trainer has written an event. */
  recordActivity(runId: string): void {
    this.activeAt.set(runId, this.clock());
  }

  /** Starts to watch a run. For a local trainer, the journal shows how long it has been silent. */
  follow(row: RunRow): void {
    const silence = row.last_time !== null && isLocal(row) ? Math.max(0, Date.now() - row.last_time) : 0;
    this.activeAt.set(row.id, this.clock() - silence);
  }

  forget(runId: string): void {
    this.activeAt.delete(runId);
  }

  /** Returns whether a run has written no event for so long that it may have stalled. */
  isSilent(runId: string): boolean {
    const activeAt = this.activeAt.get(runId);
    return activeAt !== undefined && this.clock() - activeAt >= shortestStall;
  }

  /** Returns the stall of a running trainer, or null. */
  stall(row: RunRow): Stall | null {
    const activeAt = this.activeAt.get(row.id);
    if (activeAt === undefined) return null;
    const silence = this.clock() - activeAt;
    if (silence < shortestStall) return null;
    const phase = row.phase ? (JSON.parse(row.phase) as Phase).name : null;
    const usual = Math.min(longestSilence, factor * Math.max(row.gap, row.gap_before));
    const isQuiet = phase !== null && quietPhases.includes(phase);
    const limit = Math.max(usual, isQuiet ? shortestStallOfQuietPhase : shortestStall);
    return silence < limit ? null : toStall(row, phase);
  }
}

function toStall(row: RunRow, phase: string | null): Stall {
  const since = row.last_time ?? row.created_at;
  const at = new Date(since).toLocaleTimeString(undefined, { hour12: false });
  const when = phase ? `while ${uncapitalized(phaseTitle(phase))}` : 'before its first phase';
  return {
    code: 'trainer_stalled',
    phase,
    since,
    message: `The trainer has written no event since ${at}, ${when}.`,
    hint: hintFor(row),
  };
}

const uncapitalized = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** Chooses the advice from the state of the process. */
function hintFor({ pid, ...row }: RunRow): string {
  const end = 'You can end the process and resume the run from its last checkpoint.';
  if (pid === null) return `Check ${row.host ?? 'the machine'} and trainer.log. ${end}`;
  if (!isLocal(row))
    return `Check trainer.log and ${row.host}. If ${row.host} is down, the run counts as interrupted as soon as the file system releases its lock. ${end}`;
  switch (processState(pid)) {
    case 'T':
      return `Its process is suspended. Continue it with \`kill -CONT ${pid}\`. ${end}`;
    case 'D':
      return `Its process (${pid}) is waiting for the disk. Check the disk or its network connection. ${end}`;
    default:
      return `Check trainer.log and the load of the machine. If it still writes no events, end it with \`kill -KILL ${pid}\`. ${end}`;
  }
}
