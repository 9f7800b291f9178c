import { useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { useApp } from '../../stores/app-store.ts';
import { originOf, useForks } from '../../views/use-parent.ts';
import { successorOf } from './echo-trap/possible-actions.ts';
import { RescueLink } from './echo-trap/rescue-link.tsx';
import styles from './family.module.css';

const maxForks = 3;

/** Links to the run's parent and to its forks. */
export function Family({ run }: { run: RunSummary }) {
  const forks = useForks(run.id);
  const [all, setAll] = useState(false);
  const origin = originOf(run.parent);
  const parent = useApp(({ runs }) => runs?.find(({ id }) => id === origin?.run));
  if (!origin && forks.length === 0) return null;
  const shown = all ? forks : forks.slice(0, maxForks);
  return (
    <ul className={`${styles.family} wrap`} aria-label="Forks">
      {origin && (
        <li>
          <Icon name="fork" size={14} />
          <span>
            Forked from {parent ? <RunLink run={parent} /> : 'a deleted run'} at iteration {origin.iteration}
            {parent && successorOf(parent) === run.id && (
              <>
                {' '}
                <RescueLink runId={parent.id} />
              </>
            )}
          </span>
        </li>
      )}
      {shown.map((fork) => (
        <li key={fork.id}>
          <Icon name="fork" size={14} />
          <span>
            Forked into <RunLink run={fork} /> at iteration {fork.parent!.iteration}
          </span>
        </li>
      ))}
      {forks.length > maxForks && (
        <li>
          <Button kind="quiet" onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : `Show ${forks.length - maxForks} more forks`}
          </Button>
        </li>
      )}
    </ul>
  );
}

const RunLink = ({ run }: { run: RunSummary }) => <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>;
