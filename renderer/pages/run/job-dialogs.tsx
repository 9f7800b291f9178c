import { useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import fields from '../../components/dialog-content.module.css';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';

interface EndJobProps {
  run: RunSummary;
  action: 'cancel' | 'requeue';
  close: () => void;
}

const words = {
  cancel: {
    title: 'Cancel the job',
    description:
      'A running trainer writes a checkpoint first. You can start or resume the run here, or submit it again.',
    keep: 'Keep the job',
  },
  requeue: {
    title: 'Requeue the job',
    description: 'Ends this attempt. The job returns to the queue, and the run resumes from its last checkpoint.',
    keep: 'Keep it running',
  },
} as const;

/** Asks whether to end the job of a run. */
export function EndJob({ run, action, close }: EndJobProps) {
  const api = useApi();
  const [busy, perform] = useAction();
  const { title, description, keep } = words[action];
  const end = () =>
    perform(async () => {
      await api.call('cluster.act', { runId: run.id, action });
      close();
    });
  return (
    <Dialog
      onClose={close}
      title={`${title} of ${run.name}?`}
      description={description}
      actions={
        <>
          <Button onClick={close}>{keep}</Button>
          <Button kind="danger" disabled={busy} onClick={end}>
            {title}
          </Button>
        </>
      }
    />
  );
}

const maxNice = 100_000;

/** Sets the priority of the pending job of a run. */
export function JobPriority({ run, nice, close }: { run: RunSummary; nice: number; close: () => void }) {
  const api = useApi();
  const [busy, perform] = useAction();
  const [text, setText] = useState(String(nice));
  const isValid = /^\d+$/.test(text) && Number(text) <= maxNice;
  return (
    <FormDialog
      title={`Priority of ${run.name}`}
      submit="Set priority"
      disabled={busy || !isValid}
      onClose={close}
      onSubmit={() =>
        perform(async () => {
          await api.call('cluster.nice', { runId: run.id, nice: Number(text) });
          close();
        })
      }
    >
      <label className={fields.field}>
        Nice value
        <input
          inputMode="numeric"
          value={text}
          aria-invalid={!isValid}
          onFocus={({ target }) => target.select()}
          onChange={({ target }) => setText(target.value.trim())}
        />
        <small>
          {isValid
            ? `0 (default) to ${maxNice.toLocaleString('en')}. Jobs with larger values start later.`
            : `Enter a whole number from 0 to ${maxNice.toLocaleString('en')}.`}
        </small>
      </label>
    </FormDialog>
  );
}
