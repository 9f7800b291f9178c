import { type KeyboardEvent, useMemo, useState } from 'react';
import type { ConfigForm, NewRunMarks } from '../../../core/contract/contract.ts';
import { listWithAnd } from '../../../core/contract/sentence.ts';
import type { NewFrom } from '../../base/routes.ts';
import { type RunRequest, useStartRun } from '../../components/start-run.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { applyEdits, environmentsOf, isPrompt, type PlacedField, placeSections } from '../../stores/draft.ts';
import { useQuery } from '../../stores/use-query.ts';
import { DetailsPanel, useDetails } from './details.tsx';
import styles from './editor.module.css';
import { EnvironmentChoice } from './environment-choice.tsx';
import type { EnvironmentConfig } from './environment-list.ts';
import { FormSections } from './form-sections.tsx';
import { ImportNotes } from './import-notes.tsx';
import { useModelChoices } from './model-choice.tsx';
import { Origin } from './origin.tsx';
import { PaperStudies } from './paper-studies.tsx';
import { PromptPreview } from './prompt-preview.tsx';
import type { Imported } from './read-config.ts';
import { SettingRow } from './setting-row.tsx';
import { StudyPanel } from './study-panel.tsx';
import { Summary } from './summary.tsx';
import { Transfer } from './transfer.tsx';
import { type ConfigEdits, useConfigEdits } from './use-config-edits.ts';

interface EditorProps {
  form: ConfigForm;
  from: NewFrom;
  begin: Imported;
  imported: boolean;
  /** Whether the checkpoint has optimizer state; null without a checkpoint. */
  optimizerKept: boolean | null;
  title: string;
  startsAsStudy: boolean;
  importing: boolean;
  onImport: (imported: Imported) => void;
}

/** Shows the form with the server's answers: problems, unused settings, time, memory and prompts. */
export function Editor(props: EditorProps) {
  const { form, from, begin, optimizerKept, startsAsStudy } = props;
  const config = useConfigEdits(begin, optimizerKept, startsAsStudy);
  const { base, edits, source, set, variation } = config;
  const run = useStartRun();
  const trainer = useApp((state) => state.system?.trainer);
  const sections = useMemo(() => placeSections(form, base), [form, base]);
  const fields = useMemo(() => sections.flatMap((section) => section.fields), [sections]);
  const check = useQuery('configs.check', { ...source, set, titles: true }, 250);
  const problems = check.value?.problems ?? [];
  const valid = check.fresh && check.value !== null && problems.length === 0;
  const preview = useQuery('configs.preview', valid ? { ...source, set } : null, 150);
  const models = useModelChoices(String(config.values.get('start.model')), from);
  const row = (field: PlacedField) => (
    <SettingRow key={field.at} field={field} config={config} check={check.value} from={from} models={models} />
  );

  const { details, setDetails, marks, invalidTags } = useDetails();
  const request = requestOf(config, marks);
  const [target, setTarget] = useState<string | null>(null);
  const start = () => {
    if (target === null) run.start(request);
    else useDialogs.getState().openDialog({ kind: 'submit', jobs: { newRun: request }, target });
  };
  const ready = problems.length === 0 && check.error === null;
  const blocked = !ready || invalidTags.length > 0 || Boolean(trainer?.problem) || run.busy !== null;
  function onKeyDown(event: KeyboardEvent): void {
    const submits = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat;
    // Key events from this page's dialogs bubble up to here too.
    const inForm = event.currentTarget.contains(event.target as Node);
    if (!submits || !inForm || variation || blocked) return;
    event.preventDefault();
    start();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the Start button
    <div className="page" data-narrow onKeyDown={onKeyDown}>
      <Header {...props} config={config} />
      <div className={styles.columns}>
        <div className={styles.main}>
          {variation ? (
            <>
              <StudyPanel
                config={config}
                variation={variation}
                fields={fields}
                title={begin.title}
                environments={environmentsOf(base).map(({ label }) => label)}
                ready={ready}
              />
              <PaperStudies />
            </>
          ) : (
            <DetailsPanel details={details} invalidTags={invalidTags} onChange={setDetails} />
          )}
          <EnvironmentChoice
            form={form}
            list={environmentsOf(applyEdits({ base, edits })) as EnvironmentConfig[]}
            change={config.changeEnvironments}
          />
          <FormSections
            sections={sections.map((section) => ({
              ...section,
              fields: section.fields.filter((field) => !isPrompt(field)),
            }))}
            first={form.first}
            edits={edits}
            problems={problems}
            row={row}
          />
          <PromptPreview
            preview={preview}
            valid={valid}
            invalid={!ready}
            fieldsOf={(index) =>
              fields.filter((field) => isPrompt(field) && field.at.startsWith(`environments.${index}.`))
            }
            row={row}
          />
        </div>
        <Summary
          check={check}
          preview={preview}
          fields={fields}
          config={config}
          run={run}
          request={request}
          blocked={blocked}
          start={start}
          target={target}
          setTarget={setTarget}
        />
      </div>
      {run.dialog}
    </div>
  );
}

/** Shows the page's title, the base configuration, import and export, and notes about the base. */
function Header({
  from,
  begin,
  imported,
  optimizerKept,
  title,
  startsAsStudy,
  importing,
  onImport,
  config,
}: EditorProps & { config: ConfigEdits }) {
  return (
    <>
      <header className={`${styles.head} wrap`}>
        <div>
          <h1>{title}</h1>
          <Origin
            from={from}
            imported={imported}
            title={begin.title}
            study={startsAsStudy}
            optimizerKept={optimizerKept}
            keepOptimizer={config.keepOptimizer}
            setKeepOptimizer={config.setKeepOptimizer}
          />
        </div>
        <Transfer base={config.base} edits={config.edits} importing={importing} onImport={onImport} />
      </header>
      {begin.notes.map((note) => (
        <p key={note} className={styles.note}>
          {note[0]!.toUpperCase() + note.slice(1)}.
        </p>
      ))}
      {begin.conversion && <ImportNotes notes={begin.conversion} />}
    </>
  );
}

const requestOf = ({ source, set, edits, values, base }: ConfigEdits, marks: NewRunMarks): RunRequest => ({
  source,
  set,
  marks,
  device: String(edits.device ?? values.get('device')),
  title: listWithAnd(environmentsOf(base).map(({ label }) => environmentTitle(label))),
});
