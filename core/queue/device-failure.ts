import type { ApiError } from '../contract/contract.ts';
import { deviceKey } from '../contract/run-facts.ts';
import { listWithAnd } from '../contract/sentence.ts';
import type { QueueContent } from '../run-sync/queue-file.ts';

/** Codes of trainer errors that the device caused, not the run. */
const codes = ['gpu_failed', 'device_unavailable'];

export const isDeviceFailure = ({ code }: ApiError): boolean => codes.includes(code);

/**
 * Sets the device of a started run aside and puts the run first in the queue. A run that fails on a second device is likely to fail on any: it is not
 * queued again, and the devices that were set aside because of it return to the pool. Returns null if the queue has not started the run.
 */
export function afterDeviceFailure(
  content: QueueContent,
  runId: string,
  problem: ApiError,
  nameOf: (device: { id: string }) => string,
  now = Date.now(),
): { requeued: boolean; message: string } | null {
  const index = content.started.findIndex(({ run }) => run === runId);
  const [entry] = index < 0 ? [] : content.started.splice(index, 1);
  if (!entry) return null;
  const { device, failedOn = [] } = entry;
  const key = deviceKey(device);
  if (failedOn.some((earlier) => earlier !== key)) {
    const earlier = content.aside.filter(({ run }) => run === runId).map(({ id }) => id);
    content.aside = content.aside.filter(({ run }) => run !== runId);
    const devices = [...new Set([...earlier, device.id])];
    // The earlier device may have been restored, or set aside for another run.
    const where = devices.length > 1 ? listWithAnd(devices) : 'more than one device';
    return {
      requeued: false,
      message: `The run failed on ${where}, so the cause is likely the run, not the devices: ${problem.message}`,
    };
  }
  const aside = { ...device, name: nameOf(device), run: runId, time: now, problem };
  content.aside = [...content.aside.filter((each) => deviceKey(each) !== key), aside];
  content.runs.unshift({ run: runId, added: now, failedOn: [key] });
  return { requeued: true, message: `${device.id} was set aside and ${runId} was queued again: ${problem.message}` };
}
