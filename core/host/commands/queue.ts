import { type Client, connectionLost } from '../../contract/client.ts';
import type { PooledDevice, RunSummary } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { bytes } from '../../contract/numbers.ts';
import { isLive, isSameDevice } from '../../contract/run-facts.ts';
import { advise, exitStopped, print, runRow, table } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { acrossHosts, type CommandOptions, withClient, withRun, withStudio } from './with-client.ts';

/** Lists queued runs, next first. */
export async function listQueue({ home, json }: CommandOptions): Promise<void> {
  const fetch = async (client: Client) => ({
    queue: await client.call('queue.list', {}),
    runs: await client.call('runs.list', {}),
  });
  const { queue, runs } = await withClient(home, fetch, { repeatable: true });
  const waiting = queue.runs.flatMap((id) => runs.find((run) => run.id === id) ?? []);
  const { problem, working, reasons } = queue;
  if (json) return print(JSON.stringify({ runs: waiting, problem, working, reasons }, null, 2));
  if (waiting.length === 0) return advise(empty);
  print(table(waiting.map((run, index) => [String(index + 1), ...runRow(run), reasons[run.id] ?? ''])));
  if (problem) print(`The queue is blocked: ${problem.message} ${problem.hint}`);
  else if (!working) advise(idleQueue);
}

export async function addToQueue(named: string, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    const { position } = await client.call('queue.add', { runId });
    print(`${runId} is at position ${position} in the queue`);
    await remindOfQueue(client);
  });
}

export async function removeFromQueue(named: string, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, (client, runId) => client.call('queue.remove', { runId }));
}

export async function moveInQueue(named: string, position: number, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    const moved = await client.call('queue.move', { runId, position });
    print(`${runId} is at position ${moved.position} in the queue`);
  });
}

/**
 * Trains queued runs on all free devices until the queue is empty, through the host if another process is the host. A signal ends the command but not the
 * trainers.
 */
export async function runQueue({ home }: CommandOptions): Promise<void> {
  const printed = new Map<string, string>();
  const ours = new Set<string>();
  const signals = nextSignal();
  try {
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const emptied = acrossHosts(studio, (client) => untilEmpty(client, { printed, ours }));
      await Promise.race([emptied.then(() => printed.size === 0 && advise(empty)), signals.signal.then(exitStopped)]);
    });
  } finally {
    signals.close();
  }
}

interface Seen {
  /** The status last printed, by run. */
  printed: Map<string, string>;
  /** Runs that were queued while the command ran. It doesn't wait for others. */
  ours: Set<string>;
}

/** Lets the host work through the queue and prints status changes. Doesn't wait for a paused run. */
function untilEmpty(client: Client, { printed, ours }: Seen): Promise<void> {
  return new Promise((resolve, reject) => {
    const show = ({ id, status, iteration, iterations }: RunSummary) => {
      if (printed.get(id) === status) return;
      printed.set(id, status);
      print(`${id}  ${status}  ${iteration}/${iterations}`);
    };
    const update = async () => {
      const { runs: waiting, problem } = await client.call('queue.list', {});
      if (problem) throw new Failure(problem.code, problem.message, problem.hint);
      for (const runId of waiting) ours.add(runId);
      const runs = await client.call('runs.list', {});
      // A run may have ended between two hosts.
      for (const run of runs) if (printed.has(run.id)) show(run);
      if (waiting.length === 0 && !runs.some(({ id, status }) => ours.has(id) && status === 'running')) resolve();
    };
    const check = () => void update().catch(reject);
    client.on('run', (run) => {
      show(run);
      if (run.status !== 'running') check();
    });
    client.on('queue', check);
    client.on('missed', check);
    client.onClose(() => reject(connectionLost()));
    client.call('queue.work', {}).then(check, reject);
  });
}

/** Lists the devices of the queue and the runs on them. */
export async function listDevices({ home, json }: CommandOptions): Promise<void> {
  const fetch = async (client: Client) => ({
    ...(await client.call('devices.list', {})),
    runs: await client.call('runs.list', {}),
  });
  const { devices, share, runs } = await withClient(home, fetch, { repeatable: true });
  const live = runs.filter(({ status }) => isLive(status));
  const training = (device: PooledDevice) => live.filter(({ machine }) => machine && trainsOn(machine, device));
  if (json) {
    const all = devices.map((device) => ({ ...device, runs: training(device).map(({ id }) => id) }));
    return print(JSON.stringify({ devices: all, share }, null, 2));
  }
  print(
    table(devices.map((device) => [device.id, device.name, memoryText(device), stateText(device, training(device))])),
  );
  if (share) advise('Runs may share a GPU if their memory fits.');
}

const trainsOn = ({ device: id, uuid }: NonNullable<RunSummary['machine']>, device: PooledDevice) =>
  isSameDevice({ id, uuid }, device);

const memoryText = ({ memoryBytes, freeBytes }: PooledDevice) =>
  [memoryBytes === null ? '' : bytes(memoryBytes), freeBytes === null ? '' : `, ${bytes(freeBytes)} free`].join('');

function stateText({ problem, aside }: PooledDevice, runs: readonly RunSummary[]): string {
  if (aside && problem) return `set aside: ${problem.message} (run ${aside.run})`;
  if (problem) return problem.message;
  return runs.length === 0 ? 'free' : runs.map(({ id }) => id).join(', ');
}

/** Returns a device that was set aside to the queue. */
export async function restoreDevice(device: string, { home }: CommandOptions): Promise<void> {
  await withClient(home, (client) => client.call('devices.restore', { device }));
}

/** Sets whether runs may share a GPU. */
export async function shareDevices(choice: string, { home }: CommandOptions): Promise<void> {
  await withClient(home, (client) => client.call('devices.share', { share: choice === 'on' }));
}

const empty = 'The queue is empty. Add a run with `starpo train PRESET --queue`.';

export const idleQueue =
  'Queued runs do not start, since no app is open on this data folder. Run `starpo queue run` or `starpo serve`.';

/** Prints a reminder if no process works through the queue. */
export async function remindOfQueue(client: Client): Promise<void> {
  if (!(await client.call('queue.list', {})).working) advise(idleQueue);
}
