import { type ReactNode, useEffect, useState } from 'react';
import type { Machine, PresetCard, SystemInfo } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute } from '../../base/routes.ts';
import { IconButton } from '../../components/basics.tsx';
import { EstimatedTime } from '../../components/estimated-time.tsx';
import { gigabytes } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { buildingText } from '../../components/trainer-notice.tsx';
import { useApp } from '../../stores/app-store.ts';
import { useSample } from '../../stores/use-sample.ts';
import styles from './first-steps.module.css';
import { useStartPreferences } from './start-preferences.ts';

/** Returns whether to show the three steps: there are no runs yet and the user hasn't dismissed the steps. */
export function useFirstSteps(): boolean {
  const empty = useApp(({ runs }) => runs?.length === 0);
  const { stepsDismissed } = useStartPreferences();
  return empty && !stepsDismissed;
}

/** Shows an introduction for the first start. `hero`: the preset to start with. */
export function FirstSteps({ hero }: { hero: PresetCard | undefined }) {
  const system = useApp((state) => state.system);
  const sample = useSample(true);
  const { dismissSteps } = useStartPreferences();
  const trainer = system?.trainer;
  return (
    <section className={`panel ${styles.steps}`} aria-labelledby="first-steps">
      <header className={`${styles.head} row`}>
        <h2 id="first-steps">Your first run in three steps</h2>
        <IconButton icon="close" label="Don't show the steps again" onClick={dismissSteps} />
      </header>
      <ol className={styles.list}>
        <Step number={1} title="This machine" done={trainer !== undefined && !trainer.problem}>
          <MachineText system={system} />
          <TrainerText trainer={trainer} />
        </Step>
        <Step number={2} title="See the result" done={false}>
          {sample ? (
            <p>
              The app includes a finished run.{' '}
              <a href={formatRoute({ page: 'run', runId: sample.summary.id })}>Open the sample run</a>
            </p>
          ) : (
            <p>Choose a preset below. Each card shows what to expect and how long training takes.</p>
          )}
        </Step>
        <Step number={3} title="Press Start" done={false}>
          <p>
            {hero && (
              <>
                {hero.title} takes <EstimatedTime time={hero.time} />.{' '}
              </>
            )}
            Episodes appear within seconds. You can close the window; training continues.
          </p>
        </Step>
      </ol>
    </section>
  );
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number;
  title: string;
  done: boolean;
  children: ReactNode;
}) {
  return (
    <li className={styles.step}>
      <span className={styles.number} data-done={done || undefined} aria-hidden="true">
        {done ? <Icon name="check" size={14} /> : number}
      </span>
      <div className={styles.text}>
        <h3>{title}</h3>
        {children}
      </div>
    </li>
  );
}

/** Describes the hardware: `AMD EPYC, 2 cores, 25.3 GB of memory. No usable GPU.` */
function MachineText({ system }: { system: SystemInfo | null }) {
  const api = useApi();
  const [machine, setMachine] = useState<Machine | null>(null);
  useEffect(() => {
    // Hardware details are optional here.
    api.call('machine.gauges', {}).then(
      (found) => setMachine(found.machine),
      () => {},
    );
  }, [api]);
  const gpus = system?.devices.filter(({ id, available }) => id !== 'cpu' && available) ?? [];
  const cores = machine?.cores ?? system?.cores;
  return (
    <p>
      {machine && `${machine.processor}, `}
      {cores !== undefined && count(cores, 'core')}
      {machine && `, ${gigabytes(machine.memoryBytes)} of memory`}
      {(machine || cores !== undefined) && '. '}
      {system && system.devices.length > 0 && gpuText(gpus)}
    </p>
  );
}

const gpuText = (gpus: SystemInfo['devices']) =>
  gpus.length > 0
    ? `GPU: ${gpus.map(({ name }) => name).join(', ')}.`
    : 'No usable GPU. The starter policy trains on the CPU.';

function TrainerText({ trainer }: { trainer: SystemInfo['trainer'] | undefined }) {
  const building = buildingText(trainer);
  if (!trainer) return <p>Looking for the trainer…</p>;
  if (building)
    return (
      <div role="status">
        <p>{building}.</p>
        <progress
          aria-label="Trainer files compiled"
          value={trainer.building?.done}
          max={trainer.building?.total || 1}
        />
      </div>
    );
  return <p>{trainer.problem ? "The trainer can't start. See below." : 'The trainer is ready.'}</p>;
}
