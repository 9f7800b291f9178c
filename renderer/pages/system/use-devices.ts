import type { Output } from '../../../core/contract/contract.ts';
import { useFollowed } from '../../stores/use-followed.ts';

const none: Output<'devices.list'> = { devices: [], share: false };
const reportedByChecks = () => {};

/** Returns the devices of the queue, the CPU first. There are none until they are read, or if the trainer is missing, which the checks report. */
export const useDevices = (): Output<'devices.list'> =>
  useFollowed('devices.list', {}, 'devices', reportedByChecks).value ?? none;
