import type { Client } from '../../contract/client.ts';
import type { RunSummary } from '../../contract/contract.ts';
import { Failure, runNotActive } from '../../contract/failure.ts';
import { isLive } from '../../contract/run-facts.ts';
import { advise, print } from '../output.ts';
import { untilEnded } from '../until-ended.ts';
import { type CommandOptions, withRun } from './with-client.ts';

/** Pauses a run after its current step. */
export async function pauseRun(named: string, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    const { status } = await requireLive(client, runId);
    if (status === 'paused') return print(`${runId} is already paused`);
    await command(client, runId, 'pause');
    advise(`paused ${runId}; continue with \`starpo resume ${runId}\``);
  });
}

/** Stops a run and waits until it has ended. */
export async function stopRun(named: string, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    await requireLive(client, runId);
    const [ended] = await Promise.all([untilEnded(client, runId), command(client, runId, 'stop')]);
    advise(await stoppedText(client, ended));
  });
}

/** Throws `command_refused` if the trainer rejects the command. */
export async function command(client: Client, runId: string, name: 'pause' | 'resume' | 'stop'): Promise<void> {
  const { accepted, message } = await client.call('runs.command', { runId, command: name });
  if (!accepted)
    throw new Failure('command_refused', `The trainer of ${runId} rejected ${name}: ${message}.`, seeRun(runId));
}

/** Throws `run_not_active`. */
async function requireLive(client: Client, runId: string): Promise<RunSummary> {
  const { summary } = await client.call('runs.get', { runId });
  if (isLive(summary.status)) return summary;
  throw runNotActive(runId, summary.status);
}

/** Returns a statement about a run that was stopped: its last iteration, and how to resume it if it has a checkpoint. */
export async function stoppedText(client: Client, { id, status, iteration, iterations }: RunSummary): Promise<string> {
  const at = `${status.charAt(0).toUpperCase()}${status.slice(1)} after iteration ${iteration} of ${iterations}`;
  if (status !== 'stopped') return `${at}.`;
  const [newest] = await client.call('checkpoints.list', { runId: id });
  if (!newest) return `${at}; it has no checkpoint.`;
  const saved =
    newest.iteration === iteration ? 'checkpoint saved' : `newest checkpoint: iteration ${newest.iteration}`;
  return `${at}; ${saved}. Resume it with \`starpo resume ${id}\`.`;
}

const seeRun = (runId: string) => `See its state with \`starpo show ${runId}\`.`;
