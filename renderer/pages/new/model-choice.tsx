import type { FormField, SettingValue } from '../../../core/contract/contract.ts';
import type { NewFrom } from '../../base/routes.ts';
import { modelSources } from '../../components/train-from.ts';
import { useApp } from '../../stores/app-store.ts';
import { useQuery } from '../../stores/use-query.ts';
import styles from './field-row.module.css';

/** The choice to enter a folder as text. It isn't a valid folder name. */
export const anotherFolder = '\u0000';

/** Models included with the app, by their folder in resources. */
const starters = new Map([
  ['starter', { title: 'Starter policy', note: 'The 1-million-parameter starter policy included with the app.' }],
  [
    'starter-shop',
    {
      title: 'Starter policy for the shop',
      note: 'The 800,000-parameter starter policy for the shop, included with the app. Its vocabulary covers only the synthetic products.',
    },
  ],
]);

/** Maximum number of runs whose newest checkpoint is a choice. */
const maxRuns = 20;

/** Returns the models on this machine: the base model first, a custom folder last. */
export function useModelChoices(base: string, from: NewFrom): FormField['choices'] {
  const list = useQuery('models.list', {}, 0).value;
  const presets = useApp((state) => state.presets);
  const models = (list?.models ?? [])
    .filter(({ problem }) => problem === null)
    .map(({ name, folder, source }) =>
      source === 'starter'
        ? { value: base === 'starter' ? base : folder, title: 'Starter policy' }
        : { value: name === base ? base : folder, title: `${name}, ${modelSources[source]}` },
    );
  const checkpoints = (list?.checkpoints ?? []).slice(0, maxRuns).map(({ name, iterations, folder }) => ({
    value: folder,
    title: `${name}, iteration ${iterations[0]}`,
  }));
  const published = presets?.find(({ model }) => model?.name === base)?.model;
  const baseModel = {
    value: base,
    title: published?.title ?? starters.get(base)?.title ?? folderTitle(base, from),
  };
  const available = [...models, ...checkpoints];
  const all = available.some(({ value }) => value === base) ? available : [baseModel, ...available];
  // Keep the first of two models with the same value.
  const unique = all.filter((model, index) => all.findIndex(({ value }) => value === model.value) === index);
  return [...unique, { value: anotherFolder, title: 'Choose another folder…' }];
}

const folderTitle = (folder: string, from: NewFrom) =>
  'run' in from && from.checkpoint !== null
    ? `Checkpoint at iteration ${from.checkpoint}`
    : (folder.split(/[\\/]/).findLast(Boolean) ?? folder);

interface ModelPathProps {
  value: string;
  invalid: boolean;
  disabled: boolean;
  onChange: (folder: string) => void;
}

export function ModelPath({ value, invalid, disabled, onChange }: ModelPathProps) {
  return (
    <div className={`${styles.control} row`}>
      <input
        aria-label="Path of the model folder"
        aria-invalid={invalid}
        disabled={disabled}
        placeholder="/path/to/a/model"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

/** Explains a model name that isn't a folder. */
export function ModelNote({ value, base, from }: { value: SettingValue; base: SettingValue; from: NewFrom }) {
  const model = useApp(({ presets }) => presets?.find((preset) => preset.model?.name === value)?.model);
  if (value === base && 'run' in from)
    return (
      <p className={styles.note}>
        {from.checkpoint === null
          ? 'Same start model as that run.'
          : `Checkpoint of the parent run at iteration ${from.checkpoint}.`}
      </p>
    );
  const starter = starters.get(String(value));
  if (starter) return <p className={styles.note}>{starter.note}</p>;
  if (!model) return null;
  return (
    <p className={styles.note}>
      {model.title} ({model.license}), from any model folder on this machine.
    </p>
  );
}
