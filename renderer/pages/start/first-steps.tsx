import { type ReactNode, useEffect, useState } from 'react';
import type { Machine, PresetCard, SystemInfo } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute } from '../../base/router.ts';
import { AboutTime } from '../../components/about-time.tsx';
import { IconButton } from '../../components/basics.tsx';
import { gigabytes } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { buildingText } from '../../components/trainer-notice.tsx';
import { useApp } from '../../stores/app-store.ts';
import { useSample } from '../../stores/use-sample.ts';
import styles from './first-steps.module.css';
import { useStartPreferences } from './start-preferences.ts';

/** Whether the three steps are to be shown: nothing has run here yet, and nobody has put them away. */
export function useFirstSteps(): boolean {
  const empty = useApp(({ runs }) => runs?.length === 0);
  const { stepsAway } = useStartPreferences();
  return empty && !stepsAway;
}

/** What a first start is about: what is here, what it looks like, and what to press. `hero`: the preset to begin with. */
export function FirstSteps({ hero }: { hero: PresetCard | undefined }) {
  const system = useApp((state) => state.system);
  const sample = useSample(true);
  const { putStepsAway } = useStartPreferences();
  const trainer = system?.trainer;
  return (
    <section className={`panel ${styles.steps}`} aria-labelledby="first-steps">
      <header className={styles.head}>
        <h2 id="first-steps">Your first run in three steps</h2>
        <IconButton icon="close" label="Don’t show the steps again" onClick={putStepsAway} />
      </header>
      <ol className={styles.list}>
        <Step number={1} title="This machine" done={trainer !== undefined && !trainer.problem}>
          <MachineWords system={system} />
          <TrainerWords trainer={trainer} />
        </Step>
        <Step number={2} title="See where it leads" done={false}>
          {sample ? (
            <p>
              A finished run comes with the app. Its boards play below.{' '}
              <a href={formatRoute({ page: 'run', runId: sample.summary.id })}>Look at the sample run</a>
            </p>
          ) : (
            <p>Choose what to train below: each card says what one sees, and how long it takes.</p>
          )}
        </Step>
        <Step number={3} title="Press Start" done={false}>
          <p>
            {hero && (
              <>
                {hero.title} takes <AboutTime time={hero.time} />.{' '}
              </>
            )}
            Boards play from the first seconds on. You may close the window: training goes on.
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

/** `AMD EPYC, 2 cores, 25.3 GB of memory. No GPU: the starter needs none.` */
function MachineWords({ system }: { system: SystemInfo | null }) {
  const api = useApi();
  const [machine, setMachine] = useState<Machine | null>(null);
  useEffect(() => {
    // The page is as useful without.
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
      {cores !== undefined && `${cores} ${cores === 1 ? 'core' : 'cores'}`}
      {machine && `, ${gigabytes(machine.memoryBytes)} of memory`}
      {(machine || cores !== undefined) && '. '}
      {system && system.devices.length > 0 && gpuWords(gpus)}
    </p>
  );
}

const gpuWords = (gpus: SystemInfo['devices']) =>
  gpus.length > 0
    ? `GPU: ${gpus.map(({ name }) => name).join(', ')}.`
    : 'No GPU was found: the starter policy learns without one.';

function TrainerWords({ trainer }: { trainer: SystemInfo['trainer'] | undefined }) {
  const building = buildingText(trainer);
  if (!trainer) return <p>Looking for the trainer…</p>;
  if (building)
    return (
      <div role="status">
        <p>{building}.</p>
        <progress
          aria-label="Files of the trainer compiled"
          value={trainer.building?.done}
          max={trainer.building?.total || 1}
        />
      </div>
    );
  return <p>{trainer.problem ? 'The trainer can’t be started: see below.' : 'The trainer is ready.'}</p>;
}
