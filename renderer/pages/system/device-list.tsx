import type { Machine, MachineSample, PooledDevice } from '../../../core/contract/contract.ts';
import { bytes, count } from '../../../core/contract/numbers.ts';
import { deviceKey, isSameDevice } from '../../../core/contract/run-facts.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button, ErrorNote, Progress } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { deviceOf, liveHere, shareDone } from '../../components/run-facts.ts';
import { useAction } from '../../components/use-action.ts';
import { useApp } from '../../stores/app-store.ts';
import { Gauge } from './gauge.tsx';
import styles from './system-page.module.css';
import { useDevices } from './use-devices.ts';

/** Minimum and maximum number of samples in a gauge: 5 and 30 minutes. */
const minSamples = 60;
const maxSamples = 360;

interface DeviceListProps {
  machine: Machine;
  samples: MachineSample[];
  interval: number;
}

/** Shows each device with the runs that it trains and its use over time. */
export function DeviceList({ machine, samples, interval }: DeviceListProps) {
  const api = useApi();
  const [, perform] = useAction();
  const { devices, share } = useDevices();
  const shown = samples.slice(-maxSamples);
  const capacity = Math.max(minSamples, shown.length);
  const span = `${Math.round((capacity * interval) / 60_000)} min`;
  const now = shown.at(-1);
  if (!now) return null;
  const plot = { capacity, span };
  const [cpu = processorOf(machine), ...gpus] = devices;
  return (
    <section className={styles.devices} aria-label="Devices">
      <div className="stack">
        <DeviceHead device={cpu} />
        <div className={styles.gauges}>
          <Gauge
            title="CPU"
            value={percent(now.cpu, 0)}
            note={count(machine.cores, 'core')}
            shares={shown.map(({ cpu }) => cpu)}
            {...plot}
          />
          <Gauge
            title="Memory"
            value={bytes(now.memoryBytes)}
            note={`of ${bytes(machine.memoryBytes)}`}
            shares={shown.map(({ memoryBytes }) => shareOf(memoryBytes, machine.memoryBytes))}
            {...plot}
          />
          <Gauge
            title="Data folder disk"
            value={`${bytes(now.diskFreeBytes)} free`}
            note={`${bytes(machine.diskBytes - now.diskFreeBytes)} of ${bytes(machine.diskBytes)} used`}
            shares={shown.map(({ diskFreeBytes }) => shareOf(machine.diskBytes - diskFreeBytes, machine.diskBytes))}
            {...plot}
          />
        </div>
      </div>
      {gpus.map((device) => (
        <div key={deviceKey(device)} className="stack">
          <DeviceHead device={device} />
          <GpuGauges gpu={device} index={gaugeOf(device, machine)} samples={shown} {...plot} />
        </div>
      ))}
      {gpus.length > 0 && (
        <label className={styles.share}>
          <input
            type="checkbox"
            checked={share}
            onChange={({ target }) => perform(() => api.call('devices.share', { share: target.checked }))}
          />
          Let queued runs share a GPU if their planned memory fits
        </label>
      )}
    </section>
  );
}

const shareOf = (part: number | null | undefined, whole: number | null) =>
  part == null || !whole ? null : Math.min(1, part / whole);

/** Returns the index of a GPU's samples; -1 if nvidia-smi does not list it. */
const gaugeOf = ({ uuid }: PooledDevice, { gpus }: Machine) => gpus.findIndex((gpu) => uuid && gpu.uuid === uuid);

/** Returns the CPU as a device, for the time before the devices are read and for hosts without a trainer. */
const processorOf = ({ processor, memoryBytes }: Machine): PooledDevice => {
  return { id: 'cpu', uuid: null, name: processor, memoryBytes, freeBytes: null, problem: null, aside: null };
};

function DeviceHead({ device }: { device: PooledDevice }) {
  const api = useApi();
  const [busy, perform] = useAction();
  const runs = useApp((state) => state.runs);
  const system = useApp((state) => state.system);
  const training = liveHere(runs, system).filter((run) => isSameDevice(device, deviceOf(run)));
  const { id, name, memoryBytes, problem, aside } = device;
  const message = aside ? `Set aside after ${aside.run} failed on it. ${problem?.message}` : problem?.message;
  return (
    <>
      <header className={styles.device}>
        <h2>{id === 'cpu' ? 'CPU' : id}</h2>
        <span className="muted">{memoryBytes === null ? name : `${name}, ${bytes(memoryBytes)}`}</span>
        {training.map((run) => (
          <span key={run.id} className={styles.training}>
            <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>
            <Progress value={shareDone(run)} label={`Progress of ${run.name}`} status={run.status} />
          </span>
        ))}
        {training.length === 0 && !problem && <span className="faint">idle</span>}
      </header>
      {problem && message && (
        <ErrorNote kind="warning" error={{ ...problem, message }}>
          {aside && (
            <Button
              writes
              disabled={busy}
              onClick={() => perform(() => api.call('devices.restore', { device: deviceKey(device) }))}
            >
              Return to the queue
            </Button>
          )}
        </ErrorNote>
      )}
    </>
  );
}

interface GpuGaugesProps {
  gpu: PooledDevice;
  /** Index of the GPU in the samples. */
  index: number;
  samples: readonly MachineSample[];
  capacity: number;
  span: string;
}

/** Temperature in °C at the top of the gauge. */
const hottest = 100;

function GpuGauges({ gpu: { memoryBytes: total }, index, samples, ...plot }: GpuGaugesProps) {
  const at = samples.map(({ gpus }) => gpus[index]);
  const now = at.at(-1);
  if (!now) return <p className="faint">nvidia-smi does not report this device's utilization.</p>;
  return (
    <div className={styles.gauges}>
      <Gauge
        title="Utilization"
        value={now.busy === null ? 'unknown' : `${percent(now.busy, 0)} busy`}
        note={now.watts === null ? 'power unknown' : `${Math.round(now.watts)} W`}
        shares={at.map((gpu) => gpu?.busy ?? null)}
        {...plot}
      />
      <Gauge
        title="Memory"
        value={now.memoryBytes === null ? 'unknown' : bytes(now.memoryBytes)}
        note={total === null ? 'total unknown' : `of ${bytes(total)}`}
        shares={at.map((gpu) => shareOf(gpu?.memoryBytes, total))}
        {...plot}
      />
      <Gauge
        title="Temperature"
        value={now.celsius === null ? 'unknown' : `${now.celsius} °C`}
        note={`plotted up to ${hottest} °C`}
        shares={at.map((gpu) => shareOf(gpu?.celsius, hottest))}
        {...plot}
      />
    </div>
  );
}
