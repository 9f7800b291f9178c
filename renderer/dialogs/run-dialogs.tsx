import { useId, useState } from 'react';
import { type RunSummary, tagText } from '../../core/contract/contract.ts';
import { count } from '../../core/contract/numbers.ts';
import { maxNameLength } from '../../core/contract/run-names.ts';
import { useApi } from '../api/context.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from '../components/dialog-content.module.css';
import { FormDialog } from '../components/form-dialog.tsx';
import { useApp } from '../stores/app-store.ts';

interface RunProps {
  run: RunSummary;
  close: () => void;
}

/** Sets a run's display name; an empty name resets it. */
export function RenameRun({ run, close }: RunProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [name, setName] = useState(run.name);
  const length = [...name.trim()].length;
  const isTooLong = length > maxNameLength;
  const save = (newName: string) =>
    void api.call('runs.annotate', { runId: run.id, name: newName }).then(close, report);
  return (
    <FormDialog
      title="Rename the run"
      submit="Rename"
      disabled={isTooLong}
      onClose={close}
      onSubmit={() => {
        if (name.trim() === '' || name.trim() === run.name) close();
        else save(name.trim());
      }}
      other={
        run.marks.name && (
          <Button kind="quiet" onClick={() => save('')}>
            Reset name
          </Button>
        )
      }
    >
      <label className={styles.field}>
        Name
        <input
          value={name}
          spellCheck={false}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setName(event.target.value)}
        />
        <small>
          {isTooLong
            ? `${length} of ${maxNameLength} characters. Shorten the name.`
            : `Display name only; folder and ID don't change. ${length} of ${maxNameLength} characters.`}
        </small>
      </label>
    </FormDialog>
  );
}

export function StopRun({ run, close }: RunProps) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const stop = () => {
    api
      .call('runs.command', { runId: run.id, command: 'stop' })
      .then(
        ({ accepted, message }) => notify(accepted ? `${run.name} is stopping.` : `Not stopped: ${message}.`),
        report,
      );
    close();
  };
  return (
    <Dialog
      onClose={close}
      title={`Stop ${run.name}?`}
      description="Saves a checkpoint and stops. The current iteration may be discarded. You can resume later."
      actions={
        <>
          <Button onClick={close}>{run.status === 'paused' ? 'Cancel' : 'Keep training'}</Button>
          <Button kind="danger" icon="stop" onClick={stop}>
            Stop
          </Button>
        </>
      }
    />
  );
}

/** Adds a tag to runs or removes it. */
export function TagRuns({ runs, close }: { runs: readonly RunSummary[]; close: () => void }) {
  const api = useApi();
  const { report, notify } = useApp.getState();
  const list = useId();
  const [tag, setTag] = useState('');
  const existing = [...new Set(useApp((state) => state.runs)?.flatMap(({ marks }) => marks.tags) ?? [])].sort();
  const chosen = tag.trim();
  const invalid = chosen !== '' && !tagText.safeParse(chosen).success;
  const tagged = runs.filter(({ marks }) => marks.tags.includes(chosen)).length;
  const apply = (change: { addTags: string[] } | { removeTags: string[] }, message: string) => {
    Promise.all(runs.map(({ id }) => api.call('runs.annotate', { runId: id, ...change }))).then(() => {
      notify(message);
      close();
    }, report);
  };
  const target = runs.length === 1 ? runs[0]!.name : `${runs.length} runs`;
  const taggedRuns = tagged === runs.length ? target : count(tagged, 'run');
  return (
    <FormDialog
      title={`Tag ${target}`}
      submit="Add tag"
      disabled={chosen === '' || invalid || tagged === runs.length}
      onClose={close}
      onSubmit={() => apply({ addTags: [chosen] }, `${target} tagged “${chosen}”.`)}
      other={
        tagged > 0 && (
          <Button onClick={() => apply({ removeTags: [chosen] }, `“${chosen}” removed from ${taggedRuns}.`)}>
            Remove from {tagged}
          </Button>
        )
      }
    >
      <label className={styles.field}>
        Tag
        <input
          value={tag}
          maxLength={40}
          list={list}
          onChange={(event) => setTag(event.target.value)}
          aria-invalid={invalid || undefined}
        />
        <datalist id={list}>
          {existing.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <TagHint tag={tag} />
      </label>
    </FormDialog>
  );
}

export function TagHint({ tag }: { tag: string }) {
  const invalid = tag.trim() !== '' && !tagText.safeParse(tag.trim()).success;
  if (invalid)
    return (
      <small className={styles.wrong}>Use letters, digits, spaces and . _ : / + -. Start with a letter or digit.</small>
    );
  if (tag.length >= 40) return <small>Up to 40 characters.</small>;
  return null;
}
