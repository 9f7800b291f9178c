import { useState } from 'react';
import type { Checkpoint, RunSummary } from '../../core/contract/contract.ts';
import { derivedName } from '../../core/contract/run-names.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import fieldStyles from '../components/dialog-content.module.css';
import { FormDialog } from '../components/form-dialog.tsx';
import { percent } from '../components/format.ts';
import { useApp } from '../stores/app-store.ts';
import styles from './new-run.module.css';
import {
  Facts,
  keptOf,
  NewRunName,
  nameProblem,
  useCheckpointList,
  useForkCost,
  useRunNames,
  Warnings,
} from './new-run.tsx';

interface ForkRunProps {
  run: RunSummary;
  /** Selects the newest checkpoint up to this iteration first; null for the newest. */
  checkpoint: number | null;
  close: () => void;
}

/** Creates a new run from a checkpoint, without starting it. */
export function ForkRun({ run, checkpoint: first, close }: ForkRunProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const runs = useApp((state) => state.runs);
  const names = useRunNames();
  const checkpoints = useCheckpointList(run.id);
  const [chosen, setChosen] = useState(first);
  const [edited, setEdited] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  // Newest first. Evaluations are more frequent than checkpoints, so there may be none at the best one.
  const checkpoint =
    checkpoints?.find(({ iteration }) => chosen !== null && iteration <= chosen) ?? checkpoints?.[0] ?? null;
  const at = checkpoint?.iteration ?? null;
  const name = edited ?? derivedName(run.name, `fork at ${at ?? 0}`, names);
  const problem = nameProblem(name, runs);
  const { cost, warnings } = useForkCost({
    ...{ run, checkpoint: at, keepOptimizer: checkpoint?.optimizer ?? false },
    set: {},
  });

  async function fork({ iteration, optimizer }: Checkpoint): Promise<void> {
    setBusy(true);
    try {
      const { runId } = await api.call('runs.create', {
        ...{ run: run.id, checkpoint: iteration, keepOptimizer: optimizer },
        ...{ name: name.trim(), start: false },
      });
      close();
      navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
      setBusy(false);
    }
  }

  return (
    <FormDialog
      title="Fork from a checkpoint"
      description={`Creates a new run with the settings of ${run.name}, which doesn't change. Start it on its page; to change settings, choose Duplicate with changes there.`}
      submit="Create fork"
      disabled={busy || checkpoint === null || problem !== null}
      onSubmit={() => checkpoint && void fork(checkpoint)}
      onClose={close}
    >
      {checkpoints?.length === 0 ? (
        <p className={styles.wrong}>This run has no checkpoint.</p>
      ) : (
        <>
          <label className={fieldStyles.field}>
            Checkpoint
            <select value={at ?? ''} onChange={({ target }) => setChosen(Number(target.value))}>
              {checkpoints?.map(({ iteration, success }) => (
                <option key={iteration} value={iteration}>
                  Iteration {iteration}
                  {success[0] && `, success ${percent(success[0].rate)}`}
                </option>
              ))}
            </select>
          </label>
          <NewRunName name={name} problem={problem} change={setEdited} />
          <Facts
            facts={[
              ['Keeps', keptOf(checkpoint)],
              ['Trains', at === null ? '…' : trainedFrom(at, run.iterations)],
              ...(at !== null && at < run.iterations ? cost : []),
            ]}
          />
          <Warnings warnings={warnings} />
        </>
      )}
    </FormDialog>
  );
}

/** Describes the iterations of a fork. The last checkpoint of a completed run has none left. */
const trainedFrom = (at: number, iterations: number) =>
  at < iterations ? `iterations ${at + 1} to ${iterations}` : 'none: the fork would have no iterations left.';
