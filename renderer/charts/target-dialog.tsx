import { useState } from 'react';
import { Button } from '../components/basics.tsx';
import dialogs from '../components/dialog-content.module.css';
import { FormDialog } from '../components/form-dialog.tsx';
import type { ChartSpec } from './chart-specs.ts';
import { useChartPreferences } from './preferences.ts';

/** Asks for a value that a person wants a chart to reach; it is drawn across that chart, of whichever run. */
export function TargetDialog({ spec, close }: { spec: ChartSpec; close: () => void }) {
  const { targets, setTarget } = useChartPreferences();
  const known = targets[spec.id];
  // Shares are told, and so asked for, in per cent.
  const scale = spec.format(1).includes('%') ? 100 : 1;
  const [text, setText] = useState(
    known === undefined ? '' : String(Number((known * scale).toPrecision(12))),
  );
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const wrong = text.trim() !== '' && !Number.isFinite(value);
  const keep = (target: number | null) => {
    setTarget(spec.id, target);
    close();
  };
  return (
    <FormDialog
      title={`A target for ${spec.title}`}
      description="Drawn across this chart, of every run."
      submit="Set the target"
      disabled={!Number.isFinite(value)}
      onClose={close}
      onSubmit={() => keep(value / scale)}
      other={
        known !== undefined && (
          <Button kind="quiet" onClick={() => keep(null)}>
            Remove
          </Button>
        )
      }
    >
      <label className={dialogs.field}>
        {scale === 100 ? 'Per cent' : (spec.unit && `Value, ${spec.unit}`) || 'Value'}
        <input
          value={text}
          inputMode="decimal"
          spellCheck={false}
          aria-invalid={wrong}
          onChange={(event) => setText(event.target.value)}
        />
        {wrong && <small>A number, as 75 or 0.5.</small>}
      </label>
    </FormDialog>
  );
}
