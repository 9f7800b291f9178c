import { useEffect, useId, useRef, useState } from 'react';
import type { RunSource, Settings, SettingValue, StudyPoint } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { count } from '../../../core/contract/numbers.ts';
import { maxNameLength } from '../../../core/contract/run-names.ts';
import { listWithAnd } from '../../../core/contract/sentence.ts';
import { useApi } from '../../api/context.ts';
import { navigate } from '../../base/router.ts';
import { Button, IconButton } from '../../components/basics.tsx';
import { durationRange } from '../../components/estimated-time.tsx';
import { RunOn } from '../../components/run-on.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { formatValue, type PlacedField } from '../../stores/draft.ts';
import { AddVariedField } from './add-varied-field.tsx';
import styles from './study-panel.module.css';
import type { ConfigEdits } from './use-config-edits.ts';
import { pointsOf, readSeeds, readValues, runCount, type Variation } from './variation.ts';

interface StudyPanelProps {
  config: ConfigEdits;
  variation: Variation;
  fields: readonly PlacedField[];
  /** Title of the base configuration. */
  title: string;
  /** Labels of the environments; the sweep compares success in one of them. */
  environments: readonly string[];
  /** Whether the base configuration is valid. */
  ready: boolean;
}

/** Maximum number of combinations to validate before creation. Each takes one request to the trainer. */
const maxValidated = 40;

/** Shows the settings and seeds of a sweep, and the number of runs. */
export function StudyPanel({ config, variation, fields, title, environments, ready }: StudyPanelProps) {
  const { source, setVariation, toggleVariation } = config;
  // The sweep sets the seeds.
  const { seed: _, ...set } = config.set;
  const api = useApi();
  const openDialog = useDialogs((state) => state.openDialog);
  const id = useId();
  const [name, setName] = useState<string | null>(null);
  const [seedText, setSeedText] = useState('1, 2, 3');
  const [chosen, setChosen] = useState<string | null>(null);
  const [target, setTarget] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  // The selected environment may have been removed.
  const environment = environments.find((label) => label === chosen) ?? environments[0]!;
  const varied = Object.keys(variation).flatMap((path) => fields.find(({ at }) => at === path) ?? []);
  const points = pointsOf(variation, fields);
  const seeds = readSeeds(seedText);
  const runs = runCount(points, seeds);
  const validation = useValidation(source, set, points, ready);
  const defaultName = varied.length === 0 ? title : listWithAnd(varied.map((field) => field.title));
  const trimmedName = (name ?? defaultName).trim().slice(0, maxNameLength);
  const canCreate = ready && runs > 0 && runs <= 2000 && trimmedName !== '' && !busy && validation.problem === null;

  async function create(then: 'nothing' | 'start' | 'submit'): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      const study = await api.call('studies.create', {
        ...{ name: trimmedName, base: source, set, points, seeds: seeds!, environment, start: then === 'start' },
      });
      if (then === 'submit')
        openDialog({ kind: 'submit', jobs: { study: { ...study, isNew: true } }, target: target! });
      else navigate({ page: 'study', studyId: study.id });
    } catch (cause) {
      setProblem(asFailure(cause).message);
      setBusy(false);
    }
  }
  return (
    <section className={`panel ${styles.study}`} aria-labelledby="study">
      <header className={styles.head}>
        <h2 id="study">Sweep</h2>
        <p className="muted">Trains every combination of values with every seed.</p>
        <IconButton icon="close" label="Create a single run instead" onClick={() => setVariation(null)} />
      </header>
      <div className={`${styles.fields} wrap`}>
        <label>
          <span>Name</span>
          <input
            value={name ?? defaultName}
            maxLength={maxNameLength}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <label>
          <span>Seeds</span>
          <input
            value={seedText}
            aria-invalid={seeds === null}
            aria-describedby={`${id}-seeds`}
            onChange={({ target }) => setSeedText(target.value)}
          />
        </label>
        {environments.length > 1 && (
          <label>
            <span>Success in</span>
            <select value={environment} onChange={({ target }) => setChosen(target.value)}>
              {environments.map((label) => (
                <option key={label} value={label}>
                  {environmentTitle(label)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p id={`${id}-seeds`} className={seeds === null ? styles.wrong : 'visually-hidden'}>
        {seeds === null ? 'Enter whole numbers, such as 1, 2, 3 or 1-5.' : count(seeds.length, 'seed')}
      </p>
      {varied.map((field) => (
        <VariedField
          key={field.at}
          field={field}
          values={variation[field.at]!}
          onChange={(values) => setVariation({ ...variation, [field.at]: values })}
          onRemove={() => toggleVariation(field)}
        />
      ))}
      <AddVariedField
        fields={fields.filter(({ at, type }) => !(at in variation) && at !== 'seed' && type !== 'text')}
        onAdd={toggleVariation}
      />
      <footer className="row wrap">
        <p role="status">
          <strong>
            {count(points.length, 'combination')} × {count(seeds?.length ?? 0, 'seed')} = {count(runs, 'run')}
          </strong>
          {validation.time !== null &&
            seeds &&
            runs > 0 &&
            `, ${durationRange(validation.time.low * seeds.length, validation.time.high * seeds.length)} on this machine`}
          {runs > 2000 && '. A sweep has at most 2,000.'}
        </p>
        <div className={`row wrap ${styles.create}`}>
          <RunOn target={target} onChange={setTarget} />
          <Button writes disabled={!canCreate} onClick={() => void create('nothing')}>
            Create
          </Button>
          <Button
            writes
            kind="primary"
            icon="play"
            disabled={!canCreate}
            onClick={() => void create(target === null ? 'start' : 'submit')}
          >
            {target === null ? 'Create and start' : 'Create and submit…'}
          </Button>
        </div>
      </footer>
      {(problem ?? validation.problem) && (
        <p className={styles.wrong} role="alert">
          {problem ?? validation.problem}
        </p>
      )}
    </section>
  );
}

interface VariedFieldProps {
  field: PlacedField;
  values: readonly SettingValue[];
  onChange: (values: SettingValue[]) => void;
  onRemove: () => void;
}

/** Shows the values of one setting: ticked if it has choices, else typed with commas. Receives the focus when it is added. */
function VariedField({ field, values, onChange, onRemove }: VariedFieldProps) {
  const id = useId();
  const [text, setText] = useState(values.map(formatValue).join(', '));
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => row.current?.querySelector('input')?.focus(), []);
  const choices = field.type === 'boolean' ? onOff : field.choices;
  const tick = (value: string, on: boolean) =>
    onChange(
      choices.map((choice) => choice.value).filter((each) => (each === value ? on : values.map(String).includes(each))),
    );
  return (
    <div ref={row} className={styles.varied}>
      <label htmlFor={choices.length > 0 ? undefined : id} id={`${id}-title`}>
        {field.title}
      </label>
      {choices.length > 0 ? (
        <fieldset className={`${styles.ticks} wrap`} aria-labelledby={`${id}-title`}>
          {choices.map(({ value, title }) => (
            <label key={value}>
              <input
                type="checkbox"
                checked={values.map(String).includes(value)}
                onChange={({ target }) => tick(value, target.checked)}
              />
              {title}
            </label>
          ))}
        </fieldset>
      ) : (
        <input
          id={id}
          value={text}
          placeholder="Comma-separated values"
          autoComplete="off"
          onChange={({ target }) => {
            setText(target.value);
            onChange(readValues(target.value));
          }}
        />
      )}
      <IconButton icon="close" label={`Don't vary ${field.title}`} onClick={onRemove} />
    </div>
  );
}

const onOff = [
  { value: 'true', title: 'On' },
  { value: 'false', title: 'Off' },
];

interface Validation {
  /** Total seconds for all combinations with one seed; null if any is unknown. */
  time: { low: number; high: number } | null;
  problem: string | null;
}

/** Validates the combinations: the first error and the total time. */
function useValidation(source: RunSource, set: Settings, points: readonly StudyPoint[], ready: boolean): Validation {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const key = JSON.stringify({ source, set, points });
  const [result, setResult] = useState<Validation & { key: string }>({
    key: '',
    time: null,
    problem: null,
  });
  useEffect(() => {
    const { source, set, points } = JSON.parse(key) as {
      source: RunSource;
      set: Settings;
      points: StudyPoint[];
    };
    if (!ready || !open || points.length === 0 || points.length > maxValidated) return;
    let active = true;
    async function validate(): Promise<void> {
      let total: Validation['time'] = { low: 0, high: 0 };
      for (const point of points) {
        if (!active) return;
        const { problems, time } = await api.call('configs.check', {
          ...source,
          set: { ...set, ...point.set },
          titles: true,
        });
        const [first] = problems;
        if (first) {
          if (active) setResult({ key, time: null, problem: `${point.name}: ${first.message}` });
          return;
        }
        total = total && time && { low: total.low + time.low, high: total.high + time.high };
      }
      if (active) setResult({ key, time: total, problem: null });
    }
    const timer = setTimeout(() => validate().catch(() => {}), 400);
    return () => {
      active = false;
      clearTimeout(timer);
    };
  }, [api, open, ready, key]);
  return result.key === key ? result : { time: null, problem: null };
}
