import { useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { approximateDuration } from '../components/estimated-time.tsx';
import { settingAt } from '../components/setting-at.ts';
import { useApp } from '../stores/app-store.ts';
import { useQuery } from '../stores/use-query.ts';
import { EvaluationForm } from './evaluation-form.tsx';
import { Facts } from './new-run.tsx';

interface EvaluateRunProps {
  run: RunSummary;
  /** The checkpoint selected first; null for the newest. */
  checkpoint: number | null;
  close: () => void;
}

/** Starts an evaluation of a checkpoint. */
export function EvaluateRun({ run, checkpoint, close }: EvaluateRunProps) {
  const [busy, setBusy] = useState(false);
  const perLevel = useSecondsPerLevel(run.id);
  const started = () => {
    close();
    useApp.getState().notify('Evaluation started.');
    navigate({ page: 'run', runId: run.id, tab: 'checkpoints' });
  };
  return (
    <Dialog
      onClose={close}
      title="Evaluate a checkpoint"
      description="Plays levels without training. The run doesn't change; the result appears under Checkpoints & evaluations."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <button type="submit" form="evaluate" className="button" data-kind="primary" disabled={busy}>
            {busy ? 'Loading…' : 'Evaluate'}
          </button>
        </>
      }
    >
      <EvaluationForm id="evaluate" run={run} checkpoint={checkpoint} onBusy={setBusy} onStarted={started} />
      <Facts
        facts={[
          [
            'Time',
            perLevel === null
              ? 'unknown'
              : `${approximateDuration(100 * perLevel)} per 100 levels, as in the newest evaluation`,
          ],
          ['Adds', 'the episodes of all levels'],
        ]}
      />
    </Dialog>
  );
}

/** Returns the time of a level in the run's newest evaluation, or null without one. */
function useSecondsPerLevel(runId: string): number | null {
  const metric = 'time/evaluation';
  const seconds = useQuery('runs.series', { runId, names: [metric] }, 0).value?.[0]?.values.at(-1);
  const levels = settingAt(useQuery('runs.get', { runId }, 0).value?.config, 'evaluation.levels');
  return seconds === undefined || typeof levels !== 'number' || levels === 0 ? null : seconds / levels;
}
