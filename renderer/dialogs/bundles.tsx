import { useEffect, useRef, useState } from 'react';
import { bytes } from '../../core/contract/bytes.ts';
import { type BundleChoice, pieceBytes, type RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { Button, Progress } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { navigate } from '../router.ts';
import { useApp } from '../stores/app-store.ts';
import styles from './dialogs.module.css';

interface Step {
  words: string;
  /** In [0, 1]; null while unknown. */
  share: number | null;
}

/** Packs a run into one file and gives it to the browser to be saved. */
export function ExportRun({ run, close }: { run: RunSummary; close: () => void }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [choice, setChoice] = useState<BundleChoice>({ checkpoints: 'newest', episodes: 'all' });
  const [step, setStep] = useState<Step | null>(null);
  const packing = useTaskShare('export_bundle', run.id);
  const given = useGivenUp();

  async function go(): Promise<void> {
    setStep({ words: 'Packing', share: null });
    try {
      const { file, name, bytes: size } = await api.call('bundles.export', { runId: run.id, ...choice });
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      for (let offset = 0; offset < size; ) {
        if (given.current) break;
        setStep({ words: 'Saving', share: offset / size });
        const piece = fromBase64((await api.call('bundles.read', { file, offset })).piece);
        pieces.push(piece);
        offset += piece.length;
      }
      await api.call('bundles.drop', { file });
      if (!given.current) save(new Blob(pieces, { type: 'application/zip' }), name);
      close();
    } catch (cause) {
      if (!given.current) report(cause);
      setStep(null);
    }
  }
  const cancel = () => {
    given.current = true;
    if (packing) void api.call('tasks.cancel', { taskId: packing.id }).catch(() => {});
    close();
  };
  return (
    <Dialog
      open
      onClose={cancel}
      title={`Export ${run.name}`}
      description="One file with its configuration, metrics, log, notes and evaluations, to be kept or taken to another machine."
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button kind="primary" icon="download" disabled={step !== null} onClick={() => void go()}>
            Export
          </Button>
        </>
      }
    >
      {step ? (
        <StepLine step={packing && step.share === null ? { ...step, share: packing.share } : step} />
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
              <option value="newest">The newest</option>
              <option value="all">All</option>
              <option value="none">None</option>
            </select>
          </label>
          <label className={styles.field}>
            Episodes
            <select
              value={choice.episodes}
              onChange={({ target }) =>
                setChoice({ ...choice, episodes: target.value as BundleChoice['episodes'] })
              }
            >
              <option value="all">Of training and of evaluations</option>
              <option value="evaluations">Of evaluations</option>
              <option value="none">None</option>
            </select>
          </label>
        </>
      )}
    </Dialog>
  );
}

/** Takes in a run that was exported, here or elsewhere. */
export function ImportRun({ close }: { close: () => void }) {
  const api = useApi();
  const { report, tell } = useApp.getState();
  const [file, setFile] = useState<File | null>(null);
  const [step, setStep] = useState<Step | null>(null);
  const unpacking = useTaskShare('import_bundle', null);
  const given = useGivenUp();

  async function go(chosen: File): Promise<void> {
    let held: string | null = null;
    try {
      setStep({ words: 'Reading', share: 0 });
      held = (await api.call('bundles.begin', { bytes: chosen.size })).file;
      for (let offset = 0; offset < chosen.size && !given.current; offset += pieceBytes) {
        setStep({ words: 'Reading', share: offset / chosen.size });
        await api.call('bundles.write', { file: held, piece: await pieceOf(chosen, offset) });
      }
      if (given.current) return void (await api.call('bundles.drop', { file: held }));
      setStep({ words: 'Unpacking', share: null });
      const { runId } = await api.call('bundles.import', { file: held });
      tell('The run is here.');
      close();
      navigate({ page: 'run', runId });
    } catch (cause) {
      if (held) void api.call('bundles.drop', { file: held }).catch(() => {});
      if (!given.current) report(cause);
      setStep(null);
    }
  }
  const cancel = () => {
    given.current = true;
    if (unpacking) void api.call('tasks.cancel', { taskId: unpacking.id }).catch(() => {});
    close();
  };
  return (
    <Dialog
      open
      onClose={cancel}
      title="Import a run"
      description="A .zip that StarPO Studio exported. Taking it in starts nothing."
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button
            kind="primary"
            icon="upload"
            disabled={!file || step !== null}
            onClick={() => file && void go(file)}
          >
            Import
          </Button>
        </>
      }
    >
      {step ? (
        <StepLine step={unpacking && step.share === null ? { ...step, share: unpacking.share } : step} />
      ) : (
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

function StepLine({ step: { words, share } }: { step: Step }) {
  return (
    <div role="status" className={styles.field}>
      <span>{share === null ? `${words}…` : `${words}, ${Math.round(share * 100)} %`}</span>
      <Progress value={share ?? 0} label={words} />
    </div>
  );
}

/** The task of a kind that is under way. */
function useTaskShare(kind: string, runId: string | null): { id: string; share: number | null } | null {
  const api = useApi();
  const [task, setTask] = useState<{ id: string; share: number | null } | null>(null);
  useEffect(
    () =>
      api.on('task', (told) => {
        if (told.kind !== kind || told.runId !== runId) return;
        const share = told.total > 0 ? told.done / told.total : null;
        setTask(told.state === 'running' ? { id: told.id, share } : null);
      }),
    [api, kind, runId],
  );
  return task;
}

/** Whether the person has closed the question before its end. */
function useGivenUp() {
  const given = useRef(false);
  useEffect(() => {
    given.current = false;
    return () => {
      given.current = true;
    };
  }, []);
  return given;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const content = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) content[at] = binary.charCodeAt(at);
  return content;
}

async function pieceOf(file: File, offset: number): Promise<string> {
  const content = new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer());
  let binary = '';
  for (let at = 0; at < content.length; at += 0x8000)
    binary += String.fromCharCode(...content.subarray(at, at + 0x8000));
  return btoa(binary);
}

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
