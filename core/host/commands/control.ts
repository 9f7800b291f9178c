import type { Client } from '../../contract/client.ts';
import type { RunSummary } from '../../contract/contract.ts';
import { asFailure, Failure, ignoring, runNotActive } from '../../contract/failure.ts';
import { isLive } from '../../contract/run-facts.ts';
import { advise, print } from '../output.ts';
import { untilEnded } from '../until-ended.ts';
import { type CommandOptions, withRun } from './with-client.ts';

/** Pauses a run after its current step. */
export async function pauseRun(named: string, { home }: CommandOptions): Promise<void> {
  let requested = false;
  const pause = async (client: Client, runId: string) => {
    const { status } = await requireLive(client, runId);
    if (status === 'paused' && !requested) return print(`${runId} is already paused`);
    const repeated = requested;
    requested = true;
    if (status !== 'paused') await pauseOrResume(client, runId, 'pause', repeated);
    advise(`paused ${runId}; resume it with \`starpo resume ${runId}\``);
  };
  await withRun(home, named, pause, { repeatable: true });
}

/** Stops a run and waits until it has ended. */
export async function stopRun(named: string, { home }: CommandOptions): Promise<void> {
  let requested = false;
  const stop = async (client: Client, runId: string) => {
    if (!requested) await requireLive(client, runId);
    const repeated = requested;
    requested = true;
    const sent = command(client, runId, 'stop');
    // The trainer may have exited because of the first request.
    const accepted = repeated ? sent.catch(ignoring('run_not_active', 'command_refused')) : sent;
    const [ended] = await Promise.all([untilEnded(client, runId), accepted]);
    return stoppedText(client, ended);
  };
  advise(await withRun(home, named, stop, { repeatable: true }));
}

/**
 * Pauses or resumes a run. `repeated`: an earlier request may have been carried out, and the trainer then rejects this one. Throws `command_refused`
 * if neither was carried out.
 */
export async function pauseOrResume(
  client: Client,
  runId: string,
  name: 'pause' | 'resume',
  repeated: boolean,
): Promise<void> {
  const isPaused = async () => (await client.call('runs.get', { runId })).summary.status === 'paused';
  await command(client, runId, name).catch(async (error) => {
    const isRefused = asFailure(error).code === 'command_refused';
    if (!(repeated && isRefused && (await isPaused()) === (name === 'pause'))) throw error;
  });
}

/** Throws `command_refused` if the trainer rejects the command. */
async function command(client: Client, runId: string, name: 'pause' | 'resume' | 'stop'): Promise<void> {
  const { accepted, message } = await client.call('runs.command', { runId, command: name });
  if (!accepted)
    throw new Failure(
      'command_refused',
      `The command ${name} for run ${runId} was rejected: ${message}.`,
      seeRun(runId),
    );
}

/** Throws `run_not_active`. */
async function requireLive(client: Client, runId: string): Promise<RunSummary> {
  const { summary } = await client.call('runs.get', { runId });
  if (isLive(summary.status)) return summary;
  throw runNotActive(summary);
}

/** Returns a statement about a run that was stopped: its last iteration, the rule of an early stop, and how to resume it if it has a checkpoint. */
export async function stoppedText(client: Client, run: RunSummary): Promise<string> {
  const { id, status, iteration, iterations, stopReason } = run;
  const early = stopReason === null ? '' : ' early';
  const at = `${status.charAt(0).toUpperCase()}${status.slice(1)}${early} after iteration ${iteration} of ${iterations}`;
  if (status !== 'stopped') return `${at}.`;
  const [newest] = await client.call('checkpoints.list', { runId: id });
  if (!newest) return `${at}; it has no checkpoint.`;
  const saved =
    newest.iteration === iteration ? 'checkpoint saved' : `newest checkpoint: iteration ${newest.iteration}`;
  return `${at}; ${saved}. ${stopReason === null ? '' : `${stopReason} `}Resume it with \`starpo resume ${id}\`.`;
}

const seeRun = (runId: string) => `See its state with \`starpo show ${runId}\`.`;
