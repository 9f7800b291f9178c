import { useEffect, useRef, useState } from 'react';
import { type Input, type RunSummary, tagText } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button, IconButton } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { TagHint } from '../../dialogs/run-questions.tsx';
import { useApp } from '../../stores/app-store.ts';

/** A person's own marks on a run: star, tags, note. */
export function RunMarksBar({ run }: { run: RunSummary }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [writing, setWriting] = useState(false);
  const [draft, setDraft] = useDraft(run.id);
  const opener = useRef<HTMLButtonElement>(null);
  const { starred, archived, tags, note } = run.marks;
  const unsaved = draft !== null && draft.text !== note;

  const annotate = (change: Omit<Input<'runs.annotate'>, 'runId'>) =>
    api.call('runs.annotate', { runId: run.id, ...change });
  const mark = (change: Omit<Input<'runs.annotate'>, 'runId'>) => void annotate(change).catch(report);

  /** The note with which the keyboard goes back to where it came from: a saved one is told of a little later. */
  const backAt = useRef<string | null>(null);
  useEffect(() => {
    if (writing || backAt.current !== note) return;
    backAt.current = null;
    opener.current?.focus();
  }, [writing, note]);
  const close = (as = note) => {
    backAt.current = as;
    setWriting(false);
  };
  /** What was written stays in the editor where it can't be kept. */
  const save = (text: string) =>
    void annotate({ note: text, noteWas: draft?.over ?? note }).then(() => {
      setDraft(null);
      close(text);
    }, report);
  const write = () => {
    setDraft(draft ?? { text: note, over: note });
    setWriting(true);
  };
  const leave = () => {
    if (draft?.text === draft?.over) setDraft(null);
    close();
  };

  return (
    <div className="marks">
      <div className="marks-line">
        <IconButton
          icon="star"
          label={starred ? 'Unstar' : 'Star'}
          pressed={starred}
          onClick={() => mark({ starred: !starred })}
        />
        {archived && <span className="tag">In the archive</span>}
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
          <button ref={opener} type="button" className="button" data-kind="quiet" onClick={write}>
            <Icon name="note" size={14} />
            {unsaved ? 'Go on with the note' : 'Add a note'}
          </button>
        )}
        <span className="draft-note" role="status">
          {!writing && unsaved && 'What you wrote is kept as a draft.'}
        </span>
      </div>
      {writing ? (
        <NoteEditor
          draft={draft ?? { text: note, over: note }}
          note={note}
          change={setDraft}
          save={save}
          leave={leave}
        />
      ) : (
        note && (
          <button
            ref={opener}
            type="button"
            className="mark-note"
            title={unsaved ? 'Go on with the draft' : 'Change the note'}
            onClick={write}
          >
            {note}
          </button>
        )
      )}
    </div>
  );
}

/** A note that is being written, and the one that it is written over. */
interface Draft {
  text: string;
  over: string;
}

/** Drafts by run: they outlive the page, since nobody meant to throw them away. */
const drafts = new Map<string, Draft>();

function useDraft(runId: string): [Draft | null, (draft: Draft | null) => void] {
  const [draft, setDraft] = useState(drafts.get(runId) ?? null);
  useEffect(() => setDraft(drafts.get(runId) ?? null), [runId]);
  const change = (draft: Draft | null) => {
    if (draft === null) drafts.delete(runId);
    else drafts.set(runId, draft);
    setDraft(draft);
  };
  return [draft, change];
}

function NewTag({ add }: { add: (tag: string) => void }) {
  const [text, setText] = useState('');
  const tag = text.trim();
  return (
    <form
      className="new-tag"
      onSubmit={(event) => {
        event.preventDefault();
        if (!tagText.safeParse(tag).success) return;
        add(tag);
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
      <span role="status">
        <TagHint tag={text} />
      </span>
    </form>
  );
}

const longestNote = 10_000;

interface NoteEditorProps {
  draft: Draft;
  /** As it is at present: another window may have changed it. */
  note: string;
  change: (draft: Draft | null) => void;
  save: (text: string) => void;
  /** Closes it and keeps what was written. */
  leave: () => void;
}

function NoteEditor({ draft, note, change, save, leave }: NoteEditorProps) {
  const { text, over } = draft;
  const overtaken = over !== note;
  const discard = () => {
    change(null);
    leave();
  };
  return (
    <div className="note-editor">
      {overtaken && <Overtaken draft={draft} note={note} change={change} discard={discard} />}
      <textarea
        value={text}
        maxLength={longestNote}
        rows={3}
        aria-label="Note"
        // biome-ignore lint/a11y/noAutofocus: it appears because the person asked to write
        autoFocus
        // One goes on at the end of what is there.
        onFocus={({ target }) => target.setSelectionRange(target.value.length, target.value.length)}
        onChange={(event) => change({ text: event.target.value, over })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') leave();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            if (!overtaken) save(text.trim());
          }
        }}
      />
      <div className="note-actions">
        <Button kind="primary" disabled={overtaken} onClick={() => save(text.trim())} title="Ctrl Enter">
          Save
        </Button>
        <Button onClick={discard}>Discard</Button>
        <span className="faint">
          {text.length >= longestNote
            ? `${longestNote.toLocaleString('en')} characters at most.`
            : 'Ctrl Enter saves, Esc keeps a draft.'}
        </span>
      </div>
    </div>
  );
}

type OvertakenProps = Pick<NoteEditorProps, 'draft' | 'note' | 'change'> & { discard: () => void };

/** Another window, or the command line, has saved a note in the meantime: neither of the two is lost without a word. */
function Overtaken({ draft: { text }, note, change, discard }: OvertakenProps) {
  return (
    <div className="note note-overtaken" data-kind="warning" role="status">
      <div className="note-body">
        <p className="note-title">The note was changed elsewhere meanwhile.</p>
        {note === '' ? <p>It is empty now.</p> : <blockquote>{note}</blockquote>}
        <div className="note-actions">
          <Button onClick={discard}>Take that one</Button>
          <Button onClick={() => change({ text: `${note}\n${text}`.trim(), over: note })}>
            Put mine below it
          </Button>
          <Button onClick={() => change({ text, over: note })}>Go on with mine</Button>
        </div>
      </div>
    </div>
  );
}
