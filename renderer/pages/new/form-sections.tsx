import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ConfigProblem, Settings } from '../../../core/contract/contract.ts';
import foldHead from '../../components/fold-head.module.css';
import { Icon } from '../../components/icon.tsx';
import { hasOwnKeys } from '../../player/use-player.ts';
import { findFields, type PlacedField, type PlacedSection } from '../../stores/draft.ts';
import { useSearchRequest } from '../../stores/search-request.ts';
import styles from './form-sections.module.css';

interface FormSectionsProps {
  sections: readonly PlacedSection[];
  /** Paths of the essential settings. */
  first: readonly string[];
  edits: Settings;
  problems: readonly ConfigProblem[];
  row: (field: PlacedField) => ReactNode;
}

/** Shows the essential settings, then all others in collapsible sections with a search field. */
export function FormSections({ sections, first, edits, problems, row }: FormSectionsProps) {
  const [query, setQuery] = useState('');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const search = useRef<HTMLInputElement>(null);
  useSearchRequest('settings', setQuery);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof Element && hasOwnKeys(event.target, event.key);
      if (event.key !== '/' || typing) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const all = sections.flatMap((section) => section.fields);
  const leading = first.flatMap((path) => all.find(({ at }) => at === path) ?? []);
  const otherSections = sections
    .map((section) => ({ ...section, fields: section.fields.filter(({ at }) => !first.includes(at)) }))
    .filter(({ fields }) => fields.length > 0);
  const shownSections = query.trim() === '' ? otherSections : findFields(sections, query);
  const hasProblem = ({ fields }: PlacedSection) => fields.some(({ at }) => problems.some(({ path }) => path === at));
  const toggle = (id: string, isOpen: boolean) =>
    setOpen((previous) => new Set(isOpen ? [...previous, id] : [...previous].filter((each) => each !== id)));

  return (
    <>
      <div className={styles.search}>
        <Icon name="search" size={14} />
        <input
          ref={search}
          type="search"
          placeholder="Search all settings"
          aria-label="Search all settings"
          aria-keyshortcuts="/"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
        <kbd>/</kbd>
      </div>
      {query.trim() === '' && (
        <section className="panel" aria-labelledby="first-settings">
          <h2 id="first-settings" className={styles.title}>
            Essentials
          </h2>
          {leading.map(row)}
        </section>
      )}
      {query.trim() !== '' && shownSections.length === 0 && (
        <p className="muted" role="status">
          No matching settings. Try “clip”, “checkpoint” or “temperature”.
        </p>
      )}
      <div className="stack">
        {shownSections.map((section) => {
          const isOpen = query.trim() !== '' || open.has(section.id) || hasProblem(section);
          return (
            <Section
              key={section.id}
              section={section}
              open={isOpen}
              edits={edits}
              onToggle={(next) => toggle(section.id, next)}
            >
              {isOpen && section.fields.map(row)}
            </Section>
          );
        })}
      </div>
    </>
  );
}

interface SectionProps {
  section: PlacedSection;
  open: boolean;
  edits: Settings;
  onToggle: (open: boolean) => void;
  children: ReactNode;
}

function Section({ section: { id, title, note, fields }, open, edits, onToggle, children }: SectionProps) {
  const changed = fields.filter(({ at }) => at in edits).length;
  return (
    <section className={`panel ${styles.section}`} aria-labelledby={`section-${id}`}>
      <h2 id={`section-${id}`} className={foldHead.head}>
        <button type="button" aria-expanded={open} onClick={() => onToggle(!open)}>
          <Icon name="chevron" size={12} />
          <span>{title}</span>
          <span className={`${styles.note} muted small`}>{note}</span>
          {changed > 0 && <span className={styles.count}>{changed} changed</span>}
        </button>
      </h2>
      {children}
    </section>
  );
}
