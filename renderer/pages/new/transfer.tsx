import { useRef, useState } from 'react';
import type { ConfigProblem, RunSource, Settings } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { isNestedTooDeeply } from '../../../core/contract/nesting.ts';
import { parseJson } from '../../../core/contract/parse-json.ts';
import type { Api } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { saveFile } from '../../api/files.ts';
import { Button } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { applyEdits, type Config, differences } from '../../stores/draft.ts';
import styles from './transfer.module.css';

/** A configuration imported from a file or text. */
export interface Imported {
  source: RunSource;
  config: Config;
  edits: Settings;
  title: string;
  notes: string[];
}

interface TransferProps {
  base: Config;
  edits: Settings;
  /** True to open the import dialog first. */
  importing: boolean;
  onImport: (imported: Imported) => void;
}

/** Imports and exports the configuration as JSON. */
export function Transfer({ base, edits, importing, onImport }: TransferProps) {
  const [open, setOpen] = useState<'in' | 'out' | null>(importing ? 'in' : null);
  const close = () => setOpen(null);
  return (
    <div className={styles.buttons}>
      <Button icon="import" onClick={() => setOpen('in')}>
        Import…
      </Button>
      <Button icon="export" onClick={() => setOpen('out')}>
        Export…
      </Button>
      {open === 'in' && <Import onClose={close} onImport={onImport} />}
      {open === 'out' && <Export text={`${JSON.stringify(applyEdits({ base, edits }), null, 2)}\n`} onClose={close} />}
    </div>
  );
}

function Export({ text, onClose }: { text: string; onClose: () => void }) {
  const [message, setMessage] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied.');
    } catch {
      field.current?.select();
      setMessage('Press Ctrl+C to copy the selected text.');
    }
  }
  function save(): void {
    saveFile('run.json', new Blob([text], { type: 'application/json' }));
    setMessage('Saved as run.json.');
  }
  return (
    <Dialog
      onClose={onClose}
      title="Export the configuration"
      description="The complete run.json with your changes. Import it here or pass it to starpo with --config."
      actions={
        <>
          <span className={styles.message} role="status">
            {message}
          </span>
          <Button onClick={onClose}>Close</Button>
          <Button onClick={() => void copy()}>Copy</Button>
          <Button kind="primary" icon="export" onClick={save}>
            Save file
          </Button>
        </>
      }
    >
      <textarea ref={field} className={styles.text} readOnly rows={14} value={text} aria-label="run.json" />
    </Dialog>
  );
}

function Import({ onClose, onImport }: { onClose: () => void; onImport: TransferProps['onImport'] }) {
  const api = useApi();
  const [text, setText] = useState('');
  const [problems, setProblems] = useState<Pick<ConfigProblem, 'message' | 'hint'>[]>([]);
  const [busy, setBusy] = useState(false);
  const picker = useRef<HTMLInputElement>(null);

  async function importText(): Promise<void> {
    setBusy(true);
    setProblems([]);
    try {
      const result = await readConfig(api, text);
      if (Array.isArray(result)) setProblems(result);
      else {
        onImport(result);
        onClose();
      }
    } catch (cause) {
      setProblems([asFailure(cause).toApiError()]);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog
      onClose={onClose}
      title="Import a configuration"
      description="Choose or paste a run.json from this or an earlier version."
      actions={
        <>
          <Button icon="import" onClick={() => picker.current?.click()}>
            Choose a file…
          </Button>
          <span className="spacer" />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={busy || text.trim() === ''} onClick={() => void importText()}>
            Use configuration
          </Button>
        </>
      }
    >
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        className="visually-hidden"
        tabIndex={-1}
        aria-label="run.json"
        onChange={async ({ target }) => {
          const file = target.files?.[0];
          target.value = '';
          if (file && file.size > maxSize) setProblems([tooLarge]);
          else if (file) setText(await file.text());
        }}
      />
      <textarea
        className={styles.text}
        rows={12}
        value={text}
        placeholder="{ … }"
        spellCheck={false}
        aria-label="Configuration as JSON"
        onChange={({ target }) => setText(target.value)}
      />
      {problems.length > 0 && (
        <div role="alert">
          <ul className={styles.problems}>
            {problems.map(({ message, hint }) => (
              <li key={message}>
                {message} <span className="muted">{hint}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  );
}

/** Maximum file size in bytes. A run.json has a few thousand. */
const maxSize = 4_000_000;
const tooLarge = { message: 'The file is too large for a configuration.', hint: 'Choose a run.json file.' };

/** Parses and validates a configuration. Returns it, or its problems. */
async function readConfig(api: Api, text: string): Promise<Imported | Pick<ConfigProblem, 'message' | 'hint'>[]> {
  let config: unknown;
  try {
    config = parseJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ message: `Not valid JSON: ${reason}.`, hint: '' }];
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config) || isNestedTooDeeply(config))
    return [{ message: 'Not a valid configuration.', hint: 'A run.json file contains a JSON object: { … }.' }];
  const parsed = config as Config;
  const { problems } = await api.call('configs.check', { config: parsed, titles: true });
  // The form shows problems of this machine, such as a model folder of another machine.
  const invalid = problems.filter(({ machine }) => !machine);
  if (invalid.length > 0) return invalid;
  const loaded = await api.call('configs.load', { config: parsed });
  return (await asPreset(api, loaded)) ?? { source: { config: loaded.config }, edits: {}, ...loaded };
}

/** Settings that the server sets. They are not edits. */
const serverSettings = ['start.sha256', 'parent.run', 'parent.iteration'];

/** Expresses the configuration as edits of its preset; null if it is a fork or has other settings than the preset. */
async function asPreset(api: Api, loaded: Omit<Imported, 'source' | 'edits'>): Promise<Imported | null> {
  if ((loaded.config.start as { run: string }).run !== '') return null;
  const preset = String(loaded.config.preset);
  const base = await api.call('configs.load', { preset }).catch(() => null);
  const changed = base && differences(base.config, loaded.config);
  if (!changed) return null;
  const edits = Object.fromEntries(Object.entries(changed).filter(([path]) => !serverSettings.includes(path)));
  return {
    source: { preset },
    config: base.config,
    edits,
    title: `${base.title}, with imported changes`,
    notes: loaded.notes,
  };
}
