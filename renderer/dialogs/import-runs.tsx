import { useEffect, useRef, useState } from 'react';
import { type Importable, type ImportSource, importSource, type Upload } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { type ChosenFile, dropUploads, uploadFiles } from '../api/files.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import fieldStyles from '../components/dialog-content.module.css';
import { useApp } from '../stores/app-store.ts';
import styles from './import-runs.module.css';
import { ImportableRow, sourceTitles } from './importable-row.tsx';
import { type Step, StepProgress, useAbortOnClose, useTaskProgress } from './task-progress.tsx';

/** Uploads files, lists the runs in them, and imports the chosen ones. */
export function ImportRuns({ files, close }: { files: readonly ChosenFile[]; close: () => void }) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const connected = useApp((state) => state.connection === 'open');
  const [step, setStep] = useState<Step | null>(null);
  const [found, setFound] = useState<readonly Importable[] | null>(null);
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const [from, setFrom] = useState<ImportSource | undefined>();
  const uploads = useRef<readonly Upload[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const controller = useAbortOnClose();
  const reading = useTaskProgress('inspect_import', null);
  const importing = useTaskProgress('import', null);
  const task = reading ?? importing;
  const chosen = found?.filter(({ key, problem }) => problem === null && !excluded.has(key)) ?? [];

  useEffect(() => () => void dropUploads(api, uploads.current), [api]);
  const dropped = useRef(files);
  // Files that are dropped while the page connects are read once it is connected.
  // biome-ignore lint/correctness/useExhaustiveDependencies: dropped files are read once.
  useEffect(() => {
    if (!connected || dropped.current.length === 0) return;
    void upload(dropped.current);
    dropped.current = [];
  }, [connected]);

  /** Runs a step of the dialog, which the user can cancel. */
  async function attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = controller.current;
    try {
      await work(signal);
    } catch (cause) {
      if (!signal.aborted) report(cause);
    }
    if (!signal.aborted) setStep(null);
  }
  const upload = (chosenFiles: readonly ChosenFile[]) =>
    attempt(async (signal) => {
      const progress = (share: number) => setStep({ label: 'Reading', share });
      setFound(null);
      setStep({ label: 'Reading', share: null });
      await dropUploads(api, uploads.current);
      uploads.current = [];
      uploads.current = await uploadFiles(api, chosenFiles, { signal, progress });
      await inspect(undefined);
    });
  async function inspect(source: ImportSource | undefined): Promise<void> {
    setStep({ label: 'Recognizing', share: null });
    setFrom(source);
    setExcluded(new Set());
    setFound(await api.call('imports.inspect', { uploads: [...uploads.current], from: source }));
  }
  const importAll = () =>
    attempt(async (signal) => {
      const runIds: string[] = [];
      for (const { key } of chosen) {
        signal.throwIfAborted();
        setStep({ label: `Importing ${runIds.length + 1} of ${chosen.length}`, share: null });
        runIds.push((await api.call('imports.run', { uploads: [...uploads.current], key, from })).runId);
      }
      notify(runIds.length === 1 ? 'Run imported.' : `${runIds.length} runs imported.`);
      close();
      navigate(runIds.length === 1 ? { page: 'run', runId: runIds[0]! } : { page: 'history', tab: 'runs' });
    });
  const cancel = () => {
    controller.current.abort();
    if (task) void api.call('tasks.cancel', { taskId: task.id }).catch(() => {});
    close();
  };
  const hasMetrics = found?.some(({ kind }) => kind !== 'bundle') ?? false;
  return (
    <Dialog
      onClose={cancel}
      title="Import runs"
      description="Run bundles, or metrics as CSV, JSON lines, TensorBoard event files, W&B or MLflow exports. Importing doesn't start training."
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button
            kind="primary"
            icon="import"
            disabled={chosen.length === 0 || step !== null}
            onClick={() => void importAll()}
          >
            {chosen.length > 1 ? `Import ${chosen.length} runs` : 'Import'}
          </Button>
        </>
      }
    >
      {step && <StepProgress step={task && step.share === null ? { ...step, share: task.share } : step} />}
      {!step && (
        <div className="row wrap">
          <Button onClick={() => picker.current?.click()}>{found ? 'Choose other files…' : 'Choose files…'}</Button>
          <span className="faint small">or drop files and folders on the window</span>
          <input
            ref={picker}
            type="file"
            aria-label="Files"
            hidden
            multiple
            onChange={({ target }) =>
              void upload([...(target.files ?? [])].map((content) => ({ name: content.name, content })))
            }
          />
        </div>
      )}
      {found && !step && (
        <>
          {hasMetrics && (
            <label className={fieldStyles.field}>
              Trainer
              <select
                value={from ?? ''}
                onChange={({ target }) =>
                  void attempt(() => inspect(target.value === '' ? undefined : (target.value as ImportSource)))
                }
              >
                <option value="">Recognize by metric names</option>
                {importSource.options.map((source) => (
                  <option key={source} value={source}>
                    {sourceTitles[source]}
                  </option>
                ))}
              </select>
            </label>
          )}
          <ul className={styles.runs} aria-label="Runs in these files">
            {found.map((run) => (
              <ImportableRow
                key={run.key}
                run={run}
                isChosen={chosen.includes(run)}
                onToggle={() => setExcluded((before) => toggled(before, run.key))}
              />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}
