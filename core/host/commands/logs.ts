import { pasteable } from '../../base/pasteable.ts';
import type { Client } from '../../contract/client.ts';
import type { LogLine } from '../../contract/contract.ts';
import { hasActiveJob } from '../../contract/run-facts.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { nextSignal } from '../signals.ts';
import { untilEnded } from '../until-ended.ts';
import { idleQueue } from './queue.ts';
import { acrossHosts, type CommandOptions, withRun, withStudio } from './with-client.ts';

/** Prints a run's log, as on its page; with `follow`, also new lines until the run ends or a signal. */
export async function printLog(
  named: string,
  { home, json = false, follow = false }: CommandOptions & { follow?: boolean },
): Promise<void> {
  const printer = new LogPrinter(json);
  if (!follow) {
    const request = (client: Client, runId: string) => client.call('runs.log', { runId });
    return printer.print(await withRun(home, named, request, { repeatable: true }));
  }
  let followed = named;
  let waited: string | null = null;
  const signals = nextSignal();
  try {
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const ended = acrossHosts(studio, async (client) => {
        const runId = await resolveRun(client, followed);
        followed = runId;
        const update = async () => printer.print(await client.call('runs.log', { runId }));
        // New lines wait for the earlier ones.
        let early: LogLine[] | null = [];
        client.on('log', ({ line }) => (early ? early.push(line) : printer.print([line])), runId);
        const missed = client.on('missed', () => void update().catch(() => {}));
        await update();
        printer.print(early);
        early = null;
        const waiting = await waitingText(client, runId);
        if (waiting && waiting !== waited) process.stderr.write(`${pasteable(waiting)}\n`);
        waited = waiting;
        await untilEnded(client, runId);
        missed();
        await update();
      });
      await Promise.race([ended, signals.signal]);
    });
  } finally {
    signals.close();
  }
}

/** Returns why a run has no new log lines yet; null if it is not waiting. */
async function waitingText(client: Client, runId: string): Promise<string | null> {
  const { status, queuePosition, job } = (await client.call('runs.get', { runId })).summary;
  if (status === 'created' && job && hasActiveJob({ job }))
    return `${runId} has a job on ${job.target}, which ${job.text}; waiting for it to start.`;
  if (status === 'created')
    return `${runId} has not been started; waiting for it. Start it with \`starpo resume ${runId}\`.`;
  if (status === 'paused') return `${runId} is paused; waiting for it. Resume it with \`starpo resume ${runId}\`.`;
  if (queuePosition === null) return null;
  const { working } = await client.call('queue.list', {});
  const waiting = `${runId} is at position ${queuePosition} in the queue; waiting for it to start.`;
  return working ? waiting : `${waiting} ${idleQueue}`;
}

/** Prints each line once. */
class LogPrinter {
  private readonly json: boolean;
  private readonly printed = new Set<string>();

  constructor(json: boolean) {
    this.json = json;
  }

  print(lines: readonly LogLine[]): void {
    for (const line of lines) {
      // Lines about damaged files share a sequence number.
      const key = `${line.seq} ${line.message}`;
      if (this.printed.has(key)) continue;
      this.printed.add(key);
      print(this.json ? JSON.stringify(line) : logText(line));
    }
  }
}

/** Returns `2026-01-31 12:00:00  warning  message`, in UTC. */
export const logText = ({ time, level, message }: LogLine) =>
  `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}  ${level.padEnd(7)}  ${message}`;
