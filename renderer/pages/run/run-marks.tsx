import { useState } from 'react';
import type { Input, RunSummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button, IconButton } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { useApp } from '../../stores/app-store.ts';

/** A person's own marks on a run: star, tags, note, archive. */
export function RunMarksBar({ run }: { run: RunSummary }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [writing, setWriting] = useState(false);
  const { starred, archived, tags, note } = run.marks;

  const annotate = (change: Omit<Input<'runs.annotate'>, 'runId'>) =>
    api.call('runs.annotate', { runId: run.id, ...change });
  const mark = (change: Omit<Input<'runs.annotate'>, 'runId'>) => void annotate(change).catch(report);

  /** What was written stays in the editor where it can't be kept. */
  const save = (text: string) => void annotate({ note: text }).then(() => setWriting(false), report);

  return (
    <div className="marks">
      <div className="marks-line">
        <IconButton
          icon="star"
          label={starred ? 'Take the star away' : 'Mark with a star'}
          pressed={starred}
          onClick={() => mark({ starred: !starred })}
        />
        {tags.map((tag) => (
          <span key={tag} className="tag run-tag">
            {tag}
            <button
              type="button"
              aria-label={`Remove the tag ${tag}`}
              onClick={() => mark({ removeTags: [tag] })}
            >
              <Icon name="close" size={9} />
            </button>
          </span>
        ))}
        <NewTag add={(tag) => mark({ addTags: [tag] })} />
        {!note && !writing && (
          <Button kind="quiet" icon="note" onClick={() => setWriting(true)}>
            Add a note
          </Button>
        )}
        <Button kind="quiet" icon="archive" onClick={() => mark({ archived: !archived })}>
          {archived ? 'Take out of the archive' : 'Archive'}
        </Button>
      </div>
      {writing ? (
        <NoteEditor note={note} save={save} cancel={() => setWriting(false)} />
      ) : (
        note && (
          <button
            type="button"
            className="mark-note"
            title="Change the note"
            onClick={() => setWriting(true)}
          >
            {note}
          </button>
        )
      )}
    </div>
  );
}

function NewTag({ add }: { add: (tag: string) => void }) {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) add(text.trim());
        setText('');
      }}
    >
      <input
        className="tag-input"
        value={text}
        maxLength={40}
        placeholder="Add a tag"
        aria-label="Add a tag"
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

function NoteEditor({
  note,
  save,
  cancel,
}: {
  note: string;
  save: (text: string) => void;
  cancel: () => void;
}) {
  const [text, setText] = useState(note);
  return (
    <div className="note-editor">
      <textarea
        value={text}
        maxLength={10_000}
        rows={3}
        aria-label="Note"
        // biome-ignore lint/a11y/noAutofocus: it appears because the person asked to write
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') cancel();
        }}
      />
      <div className="note-actions">
        <Button kind="primary" onClick={() => save(text.trim())}>
          Save
        </Button>
        <Button onClick={cancel}>Cancel</Button>
      </div>
    </div>
  );
}
