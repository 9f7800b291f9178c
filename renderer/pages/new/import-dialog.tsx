import { useId, useRef, useState } from 'react';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Imported, type ImportInput, type Problem, readConfig } from './read-config.ts';
import styles from './transfer.module.css';

/** Maximum size of a file in bytes. A run.json has a few thousand. */
const maxSize = 4_000_000;

const empty: ImportInput = { files: [], text: '', overrides: '' };

/** Imports a run.json, or the configuration of RAGEN, verl-agent or TRL. */
export function ImportDialog({ onClose, onImport }: { onClose: () => void; onImport: (imported: Imported) => void }) {
  const api = useApi();
  const [input, setInput] = useState(empty);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [busy, setBusy] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const { files, text } = input;
  const isForeign = files.length > 0 || (text.trim() !== '' && !text.trimStart().startsWith('{'));

  async function read(): Promise<void> {
    setBusy(true);
    setProblems([]);
    try {
      const result = await readConfig(api, input);
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

  async function choose(chosen: readonly File[]): Promise<void> {
    const large = chosen.find(({ size }) => size > maxSize);
    if (large) return setProblems([tooLarge(large.name)]);
    setProblems([]);
    const [first] = chosen;
    // A single JSON file is shown, so that it can be edited.
    if (first && chosen.length === 1 && first.name.endsWith('.json'))
      return setInput({ ...empty, text: await first.text() });
    const read = await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() })));
    const kept = files.filter(({ name }) => !read.some((each) => each.name === name));
    setInput({ ...input, text: '', files: [...kept, ...read] });
  }

  return (
    <Dialog
      onClose={onClose}
      title="Import a configuration"
      description="Choose or paste a run.json, or the YAML files of RAGEN, verl-agent or TRL, with the files in their defaults lists."
      actions={
        <>
          <Button icon="import" onClick={() => picker.current?.click()}>
            Choose files…
          </Button>
          <span className="spacer" />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={busy || (files.length === 0 && text.trim() === '')}
            onClick={() => void read()}
          >
            Use configuration
          </Button>
        </>
      }
    >
      <input
        ref={picker}
        type="file"
        multiple
        accept=".json,.yaml,.yml,application/json"
        className="visually-hidden"
        tabIndex={-1}
        aria-label="Configuration files"
        onChange={({ target }) => {
          const chosen = [...(target.files ?? [])];
          target.value = '';
          if (chosen.length > 0) void choose(chosen);
        }}
      />
      {files.length === 0 ? (
        <textarea
          className={styles.text}
          rows={12}
          value={text}
          placeholder="{ … }"
          spellCheck={false}
          aria-label="Configuration as JSON or YAML"
          onChange={({ target }) => setInput({ ...input, text: target.value })}
        />
      ) : (
        <ul className={styles.files} aria-label="Files">
          {files.map(({ name }) => (
            <li key={name}>
              <span>{name}</span>
              <Button onClick={() => setInput({ ...input, files: files.filter((file) => file.name !== name) })}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {isForeign && <Overrides value={input.overrides} onChange={(overrides) => setInput({ ...input, overrides })} />}
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

function Overrides({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <div className={styles.overrides}>
      <label htmlFor={id}>Overrides, one per line (optional)</label>
      <textarea
        id={id}
        className={styles.text}
        rows={3}
        value={value}
        placeholder="trainer.total_training_steps=100"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

const tooLarge = (name: string): Problem => ({
  message: `${name} is too large for a configuration.`,
  hint: 'Choose files with at most 4 MB.',
});
