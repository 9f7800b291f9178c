import { useId, useState } from 'react';
import { type NewRunMarks, tagText } from '../../../core/contract/contract.ts';
import { maxNameLength } from '../../../core/contract/run-names.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './details.module.css';
import { readValues } from './variation.ts';

/** The name, tags and note of a new run, as typed. */
export interface Details {
  name: string;
  tags: string;
  note: string;
}

const noDetails: Details = { name: '', tags: '', note: '' };

/** Returns the typed details, the marks to create the run with, and the tags that are invalid. */
export function useDetails() {
  const [details, setDetails] = useState(noDetails);
  const tags = readValues(details.tags);
  const marks: NewRunMarks = { name: details.name.trim(), tags, note: details.note.trim() };
  const invalidTags = tags.filter((tag) => !tagText.safeParse(tag).success);
  return { details, setDetails, marks, invalidTags };
}

interface DetailsPanelProps {
  details: Details;
  invalidTags: readonly string[];
  onChange: (details: Details) => void;
}

/** Shows the fields for the name, tags and note of a new run. All are optional. */
export function DetailsPanel({ details, invalidTags, onChange }: DetailsPanelProps) {
  const id = useId();
  const existing = [...new Set(useApp((state) => state.runs)?.flatMap(({ marks }) => marks.tags) ?? [])].sort();
  const change = (part: Partial<Details>) => onChange({ ...details, ...part });
  return (
    <section className={`panel ${styles.details}`} aria-label="Name, tags and note">
      <label>
        <span>Name</span>
        <input
          value={details.name}
          maxLength={maxNameLength}
          placeholder="Default: the preset's name or the run id"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => change({ name: target.value })}
        />
      </label>
      <label>
        <span>Tags</span>
        <input
          value={details.tags}
          list={`${id}-tags`}
          placeholder="Comma-separated"
          autoComplete="off"
          spellCheck={false}
          aria-invalid={invalidTags.length > 0}
          aria-describedby={invalidTags.length > 0 ? `${id}-problem` : undefined}
          onChange={({ target }) => change({ tags: target.value })}
        />
        <datalist id={`${id}-tags`}>
          {existing.map((tag) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
      </label>
      <label className={styles.note}>
        <span>Note</span>
        <textarea
          value={details.note}
          rows={1}
          maxLength={10_000}
          placeholder="Hypothesis, what changed, what to look at"
          onChange={({ target }) => change({ note: target.value })}
        />
      </label>
      {invalidTags.length > 0 && (
        <p id={`${id}-problem`} className={styles.problem} role="status">
          Invalid tag “{invalidTags[0]}”. A tag has 1 to 40 letters, digits, spaces or . _ : / + - and starts with a
          letter or digit.
        </p>
      )}
    </section>
  );
}
