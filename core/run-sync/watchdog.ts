import { readFileSync } from 'node:fs';
import type { Phase, Stall } from '../contract/contract.ts';
import { phaseTitle } from '../contract/run-facts.ts';
import type { RunRow } from '../history/runs-table.ts';
import { isLocal } from './liveness.ts';

/** Least silence that counts, in ms. Loading and writing say nothing until they are done. */
const least = 60_000;
const leastOfQuietPhase = 300_000;
const quietPhases: readonly string[] = ['load', 'checkpoint'];
/** Beyond this even a slow run is looked at. */
const most = 1_800_000;
/** A run's own longest silence may well be exceeded; not so many times. */
const patience = 10;

/** Milliseconds that don't run while the machine sleeps, so that waking it up doesn't look like a stall. */
export type Clock = () => number;

/**
 * Detects hanging trainers: a working trainer writes up to four `phase` events per second, so a long silence indicates a problem.
 * The limit follows from the run's own pace.
 */
export class Watchdog {
  private readonly clock: Clock;
  /** By the clock. */
  private readonly heardAt = new Map<string, number>();

  constructor(clock: Clock = () => performance.now()) {
    this.clock = clock;
  }

  /** A run's trainer has said something. */
  heard(runId: string): void {
    this.heardAt.set(runId, this.clock());
  }

  /** A run is followed from now on; how long a trainer of this machine has been silent before is in the journal. */
  begin(row: RunRow): void {
    const silence = row.last_time !== null && isLocal(row) ? Math.max(0, Date.now() - row.last_time) : 0;
    this.heardAt.set(row.id, this.clock() - silence);
  }

  forget(runId: string): void {
    this.heardAt.delete(runId);
  }

  /** For a run whose trainer lives and isn't paused. */
  stall(row: RunRow): Stall | null {
    const heardAt = this.heardAt.get(row.id);
    if (heardAt === undefined) return null;
    const silence = this.clock() - heardAt;
    if (silence < least) return null;
    const phase = row.phase ? (JSON.parse(row.phase) as Phase).name : null;
    const usual = Math.min(most, patience * Math.max(row.gap, row.gap_before));
    const limit = Math.max(usual, phase && quietPhases.includes(phase) ? leastOfQuietPhase : least);
    return silence < limit ? null : toStall(row, phase);
  }
}

function toStall(row: RunRow, phase: string | null): Stall {
  const since = row.last_time ?? row.created_at;
  const at = new Date(since).toLocaleTimeString(undefined, { hour12: false });
  const doing = phase ? `while ${uncapitalised(phaseTitle(phase))}` : 'before its first phase';
  return {
    code: 'trainer_stalled',
    phase,
    since,
    message: `The trainer has written no event since ${at}, ${doing}.`,
    hint: hintFor(row),
  };
}

const uncapitalised = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** Chooses the advice from the state of the process. */
function hintFor({ pid, ...row }: RunRow): string {
  const end = 'You can end the process and resume the run from its last checkpoint.';
  if (pid === null || !isLocal(row)) return `Check ${row.host ?? 'the machine'} and trainer.log. ${end}`;
  switch (processState(pid)) {
    case 'T':
      return `Its process is suspended. Continue it with \`kill -CONT ${pid}\`. ${end}`;
    case 'D':
      return `Its process (${pid}) is waiting for the disk. Check the disk or its network connection. ${end}`;
    default:
      return `Check trainer.log and the load of the machine. If it stays silent, end it with \`kill -KILL ${pid}\`. ${end}`;
  }
}

/** Returns the process state (R, S, D, T, ...), or null if it is not available. */
function processState(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return null;
  }
}
