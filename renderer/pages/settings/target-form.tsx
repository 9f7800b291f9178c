import { useId, useState } from 'react';
import type { ClusterTarget } from '../../../core/contract/cluster.ts';
import { targetName } from '../../../core/contract/cluster-job.ts';
import {
  readFields,
  slurmTarget,
  type TargetField,
  targetFields,
  toText,
} from '../../../core/contract/cluster-targets.ts';
import type { ApiError } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { ErrorNote } from '../../components/basics.tsx';
import fields from '../../components/dialog-content.module.css';
import { FormDialog } from '../../components/form-dialog.tsx';
import styles from './clusters.module.css';

interface TargetFormProps {
  /** Null adds a target. */
  target: ClusterTarget | null;
  /** Names of all targets. */
  names: readonly string[];
  close: () => void;
}

type Texts = Readonly<Record<string, string>>;

/** Edits the settings of a target. A field that is empty, or has the default, is left out of targets.json. */
export function TargetForm({ target, names, close }: TargetFormProps) {
  const api = useApi();
  const [name, setName] = useState(target?.name ?? (names.includes('slurm') ? '' : 'slurm'));
  const [texts, setTexts] = useState<Texts>(() => textsOf(target));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  /** Fields that the user has left. An empty required field is reported only then. */
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const parsed = slurmTarget.safeParse(readFields(texts));
  const problems = problemsOf(parsed.error?.issues ?? []);
  const nameProblem = problemOfName(name, target, names);

  const isUntouched = ({ name: each, required }: TargetField) => required && !texts[each] && !left.has(each);

  async function save(): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      await api.call('cluster.saveTarget', { name, settings: parsed.data!, ...(target && { was: target.name }) });
      close();
    } catch (cause) {
      setProblem(asFailure(cause).toApiError());
      setBusy(false);
    }
  }
  return (
    <FormDialog
      wide
      title={target ? `Edit ${target.name}` : 'Add a Slurm cluster'}
      submit={busy ? 'Saving…' : 'Save'}
      disabled={busy || !parsed.success || nameProblem !== null}
      onSubmit={() => void save()}
      onClose={close}
    >
      <div className={styles.form}>
        <label className={fields.field}>
          Name
          <input
            value={name}
            maxLength={32}
            spellCheck={false}
            aria-invalid={nameProblem !== null}
            onChange={(event) => setName(event.target.value)}
          />
          <small className={nameProblem ? fields.wrong : undefined}>{nameProblem ?? 'Shown under “Run on”.'}</small>
        </label>
        {targetFields.map((field) => (
          <Field
            key={field.name}
            field={field}
            text={texts[field.name] ?? ''}
            problem={isUntouched(field) ? null : (problems[field.name] ?? null)}
            onChange={(text) => setTexts({ ...texts, [field.name]: text })}
            onLeave={() => setLeft(new Set([...left, field.name]))}
          />
        ))}
      </div>
      {problem && <ErrorNote error={problem} />}
    </FormDialog>
  );
}

interface FieldProps {
  field: TargetField;
  text: string;
  problem: string | null;
  onChange: (text: string) => void;
  onLeave: () => void;
}

function Field({ field, text, problem, onChange, onLeave }: FieldProps) {
  const { title, description, example, kind, required, fallback } = field;
  const id = useId();
  const common = {
    id,
    value: text,
    spellCheck: false,
    required,
    placeholder: fallback || (example ? `For example ${example}` : ''),
    'aria-invalid': problem !== null,
    onBlur: onLeave,
  };
  return (
    <label className={fields.field} htmlFor={id}>
      {title}
      {kind === 'lines' ? (
        <textarea {...common} rows={2} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <input
          {...common}
          inputMode={kind === 'number' ? 'numeric' : undefined}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      <small className={problem ? fields.wrong : undefined}>{problem ? `${title} ${problem}.` : description}</small>
    </label>
  );
}

function textsOf(target: ClusterTarget | null): Texts {
  const settings: Readonly<Record<string, unknown>> = target?.settings ?? {};
  return Object.fromEntries(
    targetFields.map(({ name, fallback }) => {
      const text = toText(settings[name]);
      return [name, text === fallback ? '' : text];
    }),
  );
}

/** Returns the first problem of each field. */
function problemsOf(issues: readonly { path: PropertyKey[]; message: string }[]): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { path, message } of issues) problems[String(path[0])] ??= message;
  return problems;
}

function problemOfName(name: string, target: ClusterTarget | null, names: readonly string[]): string | null {
  if (!targetName.safeParse(name).success) return 'Use 1 to 32 lowercase letters, digits and hyphens.';
  return name !== target?.name && names.includes(name) ? 'Another cluster has this name.' : null;
}
