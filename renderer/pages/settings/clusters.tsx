import { useState } from 'react';
import type { ClusterTarget } from '../../../core/contract/cluster.ts';
import type { ApiError } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Section } from '../../components/section.tsx';
import { useAction } from '../../components/use-action.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './clusters.module.css';
import { TargetForm } from './target-form.tsx';

/** Lists the Slurm clusters to which runs are submitted. Adds, changes, checks and removes them. */
export function Clusters() {
  const clusters = useApp((state) => state.clusters);
  /** The target in the form; `new` adds one. */
  const [edited, setEdited] = useState<ClusterTarget | 'new' | null>(null);
  if (!clusters) return null;
  const { targets, problem } = clusters;
  return (
    <Section
      title="Clusters"
      action={
        <Button writes icon="plus" disabled={problem !== null} onClick={() => setEdited('new')}>
          Add a Slurm cluster…
        </Button>
      }
    >
      {problem && <ErrorNote error={problem} />}
      {targets.length === 0 ? (
        !problem && (
          <p className="muted">
            To submit runs to Slurm, add a cluster. The app must run where <code>sbatch</code> works, and the nodes must
            have access to the data folder.
          </p>
        )
      ) : (
        <ul className={styles.list}>
          {targets.map((target) => (
            <Target key={target.name} target={target} edit={() => setEdited(target)} />
          ))}
        </ul>
      )}
      {edited && (
        <TargetForm
          target={edited === 'new' ? null : edited}
          names={targets.map(({ name }) => name)}
          close={() => setEdited(null)}
        />
      )}
    </Section>
  );
}

function Target({ target: { name, summary }, edit }: { target: ClusterTarget; edit: () => void }) {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [removing, setRemoving] = useState(false);
  async function check(): Promise<void> {
    setBusy(true);
    setAnswer(null);
    setProblem(null);
    try {
      setAnswer((await api.call('cluster.check', { target: name })).answer);
    } catch (cause) {
      setProblem(asFailure(cause).toApiError());
    }
    setBusy(false);
  }
  return (
    <li>
      <div className={styles.target}>
        <strong>{name}</strong>
        <span className="muted">{summary}</span>
        <span className={styles.buttons}>
          <Button label={`Check ${name}`} disabled={busy} onClick={() => void check()}>
            {busy ? 'Checking…' : 'Check'}
          </Button>
          <Button writes label={`Edit ${name}…`} onClick={edit}>
            Edit…
          </Button>
          <Button writes kind="danger" label={`Remove ${name}…`} onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        </span>
      </div>
      <p className="small" role="status">
        {answer}
      </p>
      {problem && <ErrorNote error={problem} kind="warning" />}
      {removing && <RemoveTarget name={name} close={() => setRemoving(false)} />}
    </li>
  );
}

function RemoveTarget({ name, close }: { name: string; close: () => void }) {
  const api = useApi();
  const [busy, perform] = useAction();
  const remove = () =>
    perform(async () => {
      await api.call('cluster.removeTarget', { name });
      close();
    });
  return (
    <Dialog
      onClose={close}
      title={`Remove ${name}?`}
      description="Removes its settings. Jobs that were submitted to it continue."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" disabled={busy} onClick={remove}>
            Remove
          </Button>
        </>
      }
    />
  );
}
