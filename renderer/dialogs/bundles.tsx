import { useEffect, useRef, useState } from 'react';
import type { BundleChoice, RunSummary } from '../../core/contract/contract.ts';
import { bytes } from '../../core/contract/numbers.ts';
import { useApi } from '../api/context.ts';
import { inDesktop, saveExport, uploadBundle } from '../api/files.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from '../components/dialog-content.module.css';
import { useApp } from '../stores/app-store.ts';
import { type Step, StepProgress, useTaskProgress } from './task-progress.tsx';

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
          <Button kind="primary" icon="download" disabled={step !== null} onClick={() => void exportRun()}>
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

export function ImportRun({ close }: { close: () => void }) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const [file, setFile] = useState<File | null>(null);
  const [step, setStep] = useState<Step | null>(null);
  const unpacking = useTaskProgress('import_bundle', null);
  const controller = useAbortOnClose();

  async function importRun(): Promise<void> {
    const { signal } = controller.current;
    const progress = (share: number) => setStep({ label: 'Reading', share });
    try {
      setStep({ label: 'Reading', share: null });
      const bundle = await uploadBundle(api, file, { signal, progress });
      if (bundle === null) return setStep(null);
      setStep({ label: 'Unpacking', share: null });
      const { runId } = await api.call('bundles.import', { file: bundle });
      notify('Run imported.');
      close();
      navigate({ page: 'run', runId });
    } catch (cause) {
      if (!signal.aborted) report(cause);
      setStep(null);
    }
  }
  const cancel = () => {
    controller.current.abort();
    if (unpacking) void api.call('tasks.cancel', { taskId: unpacking.id }).catch(() => {});
    close();
  };
  return (
    <Dialog
      onClose={cancel}
      title="Import a run"
      description="A .zip exported by StarPO Studio. Importing doesn't start training."
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button
            kind="primary"
            icon="upload"
            disabled={(!file && !inDesktop()) || step !== null}
            onClick={() => void importRun()}
          >
            {inDesktop() ? 'Choose a file…' : 'Import'}
          </Button>
        </>
      }
    >
      {step && <StepProgress step={unpacking && step.share === null ? { ...step, share: unpacking.share } : step} />}
      {!step && !inDesktop() && (
        <label className={styles.field}>
          File
          <input
            type="file"
            accept=".zip,application/zip"
            onChange={({ target }) => setFile(target.files?.[0] ?? null)}
          />
          {file && <small>{bytes(file.size)}</small>}
        </label>
      )}
    </Dialog>
  );
}

/** Returns a controller that is aborted when the dialog closes early. */
function useAbortOnClose() {
  const controller = useRef(new AbortController());
  useEffect(() => {
    const current = new AbortController();
    controller.current = current;
    return () => current.abort();
  }, []);
  return controller;
}
