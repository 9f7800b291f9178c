import { useState } from 'react';
import type { FormField, Output, SettingValue, SystemInfo } from '../../../core/contract/contract.ts';
import type { NewFrom } from '../../base/routes.ts';
import { useApp } from '../../stores/app-store.ts';
import type { PlacedField } from '../../stores/draft.ts';
import { FieldRow } from './field-row.tsx';
import { anotherFolder, ModelNote, ModelPath } from './model-choice.tsx';
import type { ConfigEdits } from './use-config-edits.ts';

interface SettingRowProps {
  field: PlacedField;
  config: ConfigEdits;
  /** The server's check of the configuration; null while loading. */
  check: Output<'configs.check'> | null;
  from: NewFrom;
  models: FormField['choices'];
}

export function SettingRow({ field, config, check, from, models }: SettingRowProps) {
  const devices = useApp((state) => state.system?.devices);
  /** The value when the user chose to enter the model folder as text. */
  const [folder, setFolder] = useState<SettingValue | null>(null);
  const { at } = field;
  const base = config.values.get(at);
  const value = config.edits[at] ?? base;
  if (value === undefined || base === undefined) return null;
  const problem = check?.problems.find(({ path }) => path === at)?.message ?? null;
  const canVary = at !== 'seed' && field.type !== 'text';
  const isModel = at === 'start.model';
  const asFolder = isModel && (folder === value || !models.some((model) => model.value === value));
  const choices = isModel ? models : at === 'device' ? deviceChoices(value, devices) : field.choices;
  const choose = (chosen: SettingValue) => {
    setFolder(chosen === anotherFolder ? value : null);
    if (chosen !== anotherFolder) config.change(at, chosen);
  };
  return (
    <FieldRow
      field={field}
      value={asFolder ? anotherFolder : value}
      base={base}
      changed={at in config.edits}
      problem={problem}
      idle={check?.idle.find(({ path }) => path === at)?.reason ?? null}
      choices={choices}
      onChange={choose}
      onReset={() => {
        setFolder(null);
        config.reset(at);
      }}
      varied={canVary ? at in (config.variation ?? {}) : null}
      onVary={() => config.toggleVariation(field)}
      disabled={sweptText(at, config)}
    >
      {asFolder && (
        <ModelPath
          value={String(value)}
          invalid={problem !== null}
          disabled={at in (config.variation ?? {})}
          onChange={(text) => {
            setFolder(text);
            config.change(at, text);
          }}
        />
      )}
      {isModel && <ModelNote value={value} from={from} base={base} />}
    </FieldRow>
  );
}

/** Explains why a sweep sets the value instead of this field; null if it doesn't. */
function sweptText(at: string, { variation }: ConfigEdits): string | null {
  if (variation === null) return null;
  if (at === 'seed') return 'The sweep sets the seeds.';
  return at in variation ? 'The sweep sets the values.' : null;
}

/** Returns the choices for `device`, including its present value. */
function deviceChoices(value: SettingValue, devices: SystemInfo['devices'] = []): FormField['choices'] {
  const choices = [
    { value: 'cpu', title: 'CPU' },
    { value: 'auto', title: 'GPU if available, else CPU' },
    { value: 'cuda', title: 'GPU with the most free memory' },
    ...devices
      .filter(({ id }) => id.startsWith('cuda'))
      .map(({ id, name }) => ({ value: id, title: `${id}: ${name}` })),
  ];
  return choices.some((choice) => choice.value === value)
    ? choices
    : [...choices, { value: String(value), title: String(value) }];
}
