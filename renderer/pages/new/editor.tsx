import { type KeyboardEvent, useMemo, useState } from 'react';
import type { ConfigForm, RunSource, Settings, SettingValue } from '../../../core/contract/contract.ts';
import type { NewFrom } from '../../base/router.ts';
import { useStartRun } from '../../components/start-run.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import {
  applied,
  edited,
  environmentsOf,
  flatten,
  isPrompt,
  type PlacedField,
  placeSections,
} from '../../stores/draft.ts';
import { useAnswer } from '../../stores/use-answer.ts';
import styles from './editor.module.css';
import { EnvironmentChoice } from './environment-choice.tsx';
import { besidesEnvironments, type EnvironmentConfig, joinEdits, splitEdits } from './environment-list.ts';
import { FieldRow } from './field-row.tsx';
import { FormSections } from './form-sections.tsx';
import { anotherFolder, ModelNote, ModelPath, useModelChoices } from './model-choice.tsx';
import { Origin } from './origin.tsx';
import { PromptPreview } from './prompt-preview.tsx';
import { StudyPanel } from './study-panel.tsx';
import { Summary } from './summary.tsx';
import { type Imported, Transfer } from './transfer.tsx';
import type { Variation } from './variation.ts';

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

/** The form with the server's answers: problems, unused settings, time, memory and prompts. */
export function Editor({
  form,
  from,
  begin,
  imported,
  optimizerKept,
  title,
  startsAsStudy,
  importing,
  onImport,
}: EditorProps) {
  const run = useStartRun();
  const devices = useApp((state) => state.system?.devices);
  const trainer = useApp((state) => state.system?.trainer);
  const [initial] = useState(() => splitEdits(begin.edits));
  /** The environments, if they differ from the base configuration. */
  const [list, setList] = useState(initial.list);
  const [edits, setEdits] = useState<Settings>(initial.edits);
  const [keepOptimizer, setKeepOptimizer] = useState(optimizerKept === true);
  const [variation, setVariation] = useState<Variation>({});
  const [study, setStudy] = useState(startsAsStudy);
  /** Whether the user enters the model folder as text. */
  const [typesFolder, setTypesFolder] = useState(false);
  const base = useMemo(
    () => (list ? { ...begin.config, environments: list } : begin.config),
    [begin.config, list],
  );
  const set = useMemo(() => joinEdits(list, edits), [list, edits]);
  const source: RunSource =
    'checkpoint' in begin.source && begin.source.checkpoint !== undefined
      ? { ...begin.source, keepOptimizer }
      : begin.source;

  const sections = useMemo(() => placeSections(form, base), [form, base]);
  const fields = useMemo(() => sections.flatMap((section) => section.fields), [sections]);
  const values = useMemo(() => flatten(base), [base]);
  const check = useAnswer('configs.check', { ...source, set, titles: true }, 250);
  const problems = check.value?.problems ?? [];
  const sound = check.fresh && check.value !== null && problems.length === 0;
  const preview = useAnswer('configs.preview', sound ? { ...source, set } : null, 150);
  const idle = new Map(check.value?.idle.map(({ path, reason }) => [path, reason]));

  const change = (path: string, value: SettingValue) =>
    setEdits((now) => edited({ base, edits: now }, path, value));
  /** The new list already contains the edits of environments, so these are dropped. */
  function changeEnvironments(next: EnvironmentConfig[]): void {
    const same = JSON.stringify(next) === JSON.stringify(begin.config.environments);
    setList(same ? null : next);
    setEdits(besidesEnvironments);
    setVariation(besidesEnvironments);
  }
  const reset = (path: string) => {
    if (path === 'start.model') setTypesFolder(false);
    setEdits(({ [path]: _, ...others }) => others);
  };
  const vary = (field: PlacedField) => {
    setStudy(true);
    setVariation(({ [field.at]: varied, ...others }) =>
      varied ? others : { ...others, [field.at]: [edits[field.at] ?? values.get(field.at)!] },
    );
  };
  const deviceChoices = [
    { value: 'cpu', title: 'CPU' },
    { value: 'auto', title: 'GPU if available, else CPU' },
    { value: 'cuda', title: 'First available GPU' },
    ...(devices ?? [])
      .filter(({ id }) => id.startsWith('cuda'))
      .map(({ id, name }) => ({ value: id, title: `${id}: ${name}` })),
  ];
  const models = useModelChoices(String(values.get('start.model')), from);
  const choicesOf = ({ at, choices }: PlacedField, value: SettingValue) => {
    if (at === 'start.model') return models;
    if (at !== 'device') return choices;
    return deviceChoices.some((choice) => choice.value === value)
      ? deviceChoices
      : [...deviceChoices, { value: String(value), title: String(value) }];
  };
  const row = (field: PlacedField) => {
    const value = edits[field.at] ?? values.get(field.at);
    const own = values.get(field.at);
    if (value === undefined || own === undefined) return null;
    const canVary = field.at !== 'seed' && field.type !== 'text';
    const problem = problems.find(({ path }) => path === field.at)?.message ?? null;
    const isModel = field.at === 'start.model';
    const asFolder = isModel && (typesFolder || !models.some((model) => model.value === value));
    const choose = (chosen: SettingValue) => {
      if (isModel) setTypesFolder(chosen === anotherFolder);
      if (chosen !== anotherFolder) change(field.at, chosen);
    };
    return (
      <FieldRow
        key={field.at}
        field={field}
        value={asFolder ? anotherFolder : value}
        base={own}
        changed={field.at in edits}
        problem={problem}
        idle={idle.get(field.at) ?? null}
        choices={choicesOf(field, value)}
        onChange={choose}
        onReset={() => reset(field.at)}
        varied={canVary ? field.at in variation : null}
        onVary={() => vary(field)}
      >
        {asFolder && (
          <ModelPath
            value={String(value)}
            wrong={problem !== null}
            onChange={(typed) => {
              setTypesFolder(true);
              change(field.at, typed);
            }}
          />
        )}
        {isModel && <ModelNote value={value} from={from} base={own} />}
      </FieldRow>
    );
  };

  const request = {
    source,
    set,
    device: String(edits.device ?? values.get('device')),
    title: environmentsOf(base)
      .map(({ label }) => environmentTitle(label))
      .join(' and '),
  };
  const ready = problems.length === 0 && check.error === null;
  const blocked = !ready || Boolean(trainer?.problem) || run.busy !== null;
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat || study || blocked)
      return;
    // Key events from this page's dialogs bubble up to here too.
    if (!event.currentTarget.contains(event.target as Node)) return;
    event.preventDefault();
    run.start(request);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the Start button
    <div className={`page ${styles.page}`} onKeyDown={onKeyDown}>
      <header className={styles.head}>
        <div>
          <h1>{title}</h1>
          <Origin
            from={from}
            imported={imported}
            title={begin.title}
            study={startsAsStudy}
            optimizerKept={optimizerKept}
            keepOptimizer={keepOptimizer}
            setKeepOptimizer={setKeepOptimizer}
          />
        </div>
        <Transfer base={base} edits={edits} importing={importing} onImport={onImport} />
      </header>
      {begin.notes.map((note) => (
        <p key={note} className={styles.note}>
          {note[0]!.toUpperCase() + note.slice(1)}.
        </p>
      ))}
      <div className={styles.columns}>
        <div className={styles.main}>
          {study && (
            <StudyPanel
              source={source}
              edits={set}
              fields={fields}
              variation={variation}
              setVariation={setVariation}
              title={begin.title}
              environments={environmentsOf(base).map(({ label }) => label)}
              ready={ready}
              onClose={() => {
                setVariation({});
                setStudy(false);
              }}
            />
          )}
          <EnvironmentChoice
            form={form}
            list={environmentsOf(applied({ base, edits })) as EnvironmentConfig[]}
            change={changeEnvironments}
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
            sound={sound}
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
          values={values}
          edits={edits}
          reset={reset}
          resetAll={() => {
            setList(null);
            setTypesFolder(false);
            setEdits({});
          }}
          environments={
            list && {
              words: list.map(({ label }) => environmentTitle(label)).join(' and '),
              reset: () => changeEnvironments(begin.config.environments as EnvironmentConfig[]),
            }
          }
          run={run}
          request={request}
          blocked={blocked}
          study={study}
          onStudy={() => setStudy(true)}
        />
      </div>
      {run.question}
    </div>
  );
}
