import { useState } from 'react';
import { Button } from '../components/basics.tsx';
import dialogs from '../components/dialog-content.module.css';
import { FormDialog } from '../components/form-dialog.tsx';
import type { ChartSpec } from './chart-specs.ts';
import { useChartPreferences } from './preferences.ts';

/** Asks for a chart's target value, which is drawn on that chart for all runs. */
export function TargetDialog({ spec, close }: { spec: ChartSpec; close: () => void }) {
  const { targets, setTarget } = useChartPreferences();
  const target = targets[spec.id];
  // Shares are entered as percents.
  const scale = spec.format(1).includes('%') ? 100 : 1;
  const [text, setText] = useState(target === undefined ? '' : String(Number((target * scale).toPrecision(12))));
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const invalid = text.trim() !== '' && !Number.isFinite(value);
  const save = (next: number | null) => {
    setTarget(spec.id, next);
    close();
  };
  return (
    <FormDialog
      title={`Target for ${spec.title}`}
      description="Drawn as a line on this chart for all runs."
      submit="Set target"
      disabled={!Number.isFinite(value)}
      onClose={close}
      onSubmit={() => save(value / scale)}
      other={
        target !== undefined && (
          <Button kind="quiet" onClick={() => save(null)}>
            Remove
          </Button>
        )
      }
    >
      <label className={dialogs.field}>
        {scale === 100 ? 'Percent' : (spec.unit && `Value, ${spec.unit}`) || 'Value'}
        <input
          value={text}
          inputMode="decimal"
          spellCheck={false}
          aria-invalid={invalid}
          onChange={(event) => setText(event.target.value)}
        />
        {invalid && <small>Enter a number such as 75 or 0.5.</small>}
      </label>
    </FormDialog>
  );
}
