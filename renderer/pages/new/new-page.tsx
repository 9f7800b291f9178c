import { useState } from 'react';
import { type RunSource, type Settings, usualPreset } from '../../../core/contract/contract.ts';
import type { NewFrom } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty, ErrorNote } from '../../components/basics.tsx';
import { useQuery } from '../../stores/use-query.ts';
import { Editor } from './editor.tsx';
import type { Imported } from './read-config.ts';

interface NewPageProps {
  from: NewFrom;
  /** Edits from the URL. */
  set: Settings;
  study: boolean;
  /** Whether to open the import dialog first. */
  importing: boolean;
}

/** Shows the form for a new run or sweep. Each address has its own form. */
export function NewPage({ from, set, study, importing }: NewPageProps) {
  const [imported, setImported] = useState<Imported | null>(null);
  /** Number of imports. Each one resets the form. */
  const [imports, setImports] = useState(0);
  const form = useQuery('configs.form', {}, 0);
  const source = sourceOf(from);
  const loaded = useQuery('configs.load', source, 0);
  const title = study ? 'New sweep' : 'New run';
  useTitle(title);
  const error = form.error ?? loaded.error;
  if (error)
    return (
      <div className="page" data-narrow>
        <h1>{title}</h1>
        <ErrorNote error={error} />
      </div>
    );
  if (!form.value || !loaded.value)
    return (
      <div className="page" data-narrow>
        <h1>{title}</h1>
        <Empty title="Loading the configuration…" />
      </div>
    );
  const { config, notes, optimizerKept, title: origin } = loaded.value;
  const begin: Imported = imported ?? { source, config, edits: set, title: origin, notes };
  return (
    <Editor
      key={imports}
      form={form.value}
      from={from}
      begin={begin}
      imported={imported !== null}
      optimizerKept={imported ? null : optimizerKept}
      title={title}
      startsAsStudy={study}
      importing={importing && imported === null}
      onImport={(next) => {
        setImported(next);
        setImports(imports + 1);
      }}
    />
  );
}

function sourceOf(from: NewFrom): RunSource {
  if ('preset' in from) return { preset: from.preset ?? usualPreset };
  if (from.checkpoint === null) return { run: from.run };
  return { run: from.run, checkpoint: from.checkpoint, keepOptimizer: false };
}
