import { useState } from 'react';
import type { BundleChoice, RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { saveExport } from '../api/files.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from '../components/dialog-content.module.css';
import { useApp } from '../stores/app-store.ts';
import { type Step, StepProgress, useAbortOnClose, useTaskProgress } from './task-progress.tsx';

export function ExportRun({ run, close }: { run: RunSummary; close: () => void }) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const [choice, setChoice] = useState<BundleChoice>({ checkpoints: 'newest', episodes: 'all' });
  const [step, setStep] = useState<Step | null>(null);
  const packing = useTaskProgress('export_bundle', run.id);
  const controller = useAbortOnClose();

  async function exportRun(): Promise<void> {
    const { signal } = controller.current;
    setStep({ label: 'Packing', share: null });
    try {
      const bundle = await api.call('bundles.export', { runId: run.id, ...choice });
      if (signal.aborted) return void (await api.call('exports.forget', { exportId: bundle.exportId }));
      setStep({ label: 'Saving', share: null });
      const location = await saveExport(api, bundle);
      if (location) notify(`${location}.`);
      close();
    } catch (cause) {
      if (!signal.aborted) report(cause);
      setStep(null);
    }
  }
  const cancel = () => {
    controller.current.abort();
    if (packing) void api.call('tasks.cancel', { taskId: packing.id }).catch(() => {});
    close();
  };
  return (
    <Dialog
      onClose={cancel}
      title={`Export ${run.name}`}
      description="One file with the configuration, metrics, log, notes and evaluations, for backup or another machine."
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button kind="primary" icon="export" disabled={step !== null} onClick={() => void exportRun()}>
            Export
          </Button>
        </>
      }
    >
      {step ? (
        <StepProgress step={packing && step.share === null ? { ...step, share: packing.share } : step} />
      ) : (
        <>
          <label className={styles.field}>
            Checkpoints
            <select
              value={choice.checkpoints}
              onChange={({ target }) =>
                setChoice({ ...choice, checkpoints: target.value as BundleChoice['checkpoints'] })
              }
            >
              <option value="newest">Newest</option>
              <option value="all">All</option>
              <option value="none">None</option>
            </select>
          </label>
          <label className={styles.field}>
            Episodes
            <select
              value={choice.episodes}
              onChange={({ target }) => setChoice({ ...choice, episodes: target.value as BundleChoice['episodes'] })}
            >
              <option value="all">Training and evaluation</option>
              <option value="evaluations">Evaluation only</option>
              <option value="none">None</option>
            </select>
          </label>
        </>
      )}
    </Dialog>
  );
}
