import { useState } from 'react';
import type { ModelEntry } from '../../../core/contract/contract.ts';
import { bytes as sizeOf } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button } from '../../components/basics.tsx';
import { gigabytes, number, wholeGigabytes } from '../../components/format.ts';
import { actions, numeric, TableHead } from '../../components/table-head.tsx';
import { modelSources, smallModel, trainFrom } from '../../components/train-from.ts';
import { useAction } from '../../components/use-action.ts';
import { useApp } from '../../stores/app-store.ts';
import { useWriteLock } from '../../stores/write-access.ts';
import styles from './models-page.module.css';
import { ScrollingTable } from './scrolling-table.tsx';

/** Models on this machine, and whether they can be trained here. */
export function ModelTable({ models }: { models: readonly ModelEntry[] }) {
  return (
    <div className={styles.section}>
      <h2 id="models-here">On this machine</h2>
      <ScrollingTable labelledBy="models-here">
        <TableHead
          columns={['Model', numeric('Parameters'), 'Precision', numeric('Size'), 'License', 'Training', actions]}
        />
        <tbody>
          {models.map((model) => (
            <Row key={model.folder} model={model} />
          ))}
        </tbody>
      </ScrollingTable>
      <AddFolder />
    </div>
  );
}

function Row({ model }: { model: ModelEntry }) {
  const { name, folder, source, architecture, parameters, precision, bytes, license } = model;
  return (
    <tr>
      <th scope="row">
        <span className={styles.name}>{name}</span> <span className="tag">{modelSources[source]}</span>
        <span className={`faint ${styles.path}`} title={folder}>
          {folder}
        </span>
        <span className={`faint ${styles.path}`}>{architecture ?? 'unknown architecture'}</span>
      </th>
      <td className="numeric">{parameters === null ? '–' : number(parameters)}</td>
      <td>{precision ?? '–'}</td>
      <td className="numeric">{sizeOf(bytes)}</td>
      <td className={styles.wrapped}>{license ?? 'not stated'}</td>
      <td className={styles.wrapped}>
        <Fit model={model} />
      </td>
      <td>
        <div className={styles.rowActions}>
          <TrainFrom model={model} />
          <Actions model={model} />
        </div>
      </td>
    </tr>
  );
}

/** Shows whether training this model fits into memory, according to its preset's memory plan. */
function Fit({ model: { folder, parameters, problem, trainingBytes } }: { model: ModelEntry }) {
  const system = useApp((state) => state.system);
  if (problem)
    return (
      <>
        <span className="tag" data-kind="bad">
          not usable
        </span>{' '}
        {problem.message.replace(`${folder}/`, '')}
      </>
    );
  if (trainingBytes === null || (parameters ?? 0) < smallModel)
    return (
      <span className="tag" data-kind="good">
        on CPU
      </span>
    );
  const memoryOf = (kind: string) =>
    system?.devices.find(({ id, available }) => available && id.startsWith(kind))?.memory_bytes ?? 0;
  const gpu = memoryOf('cuda');
  const memory = gpu || memoryOf('cpu');
  const needs = `about ${wholeGigabytes(trainingBytes)} with a critic`;
  if (memory === 0) return `${needs} of memory`;
  const fits = trainingBytes <= memory;
  return (
    <>
      <span className="tag" data-kind={fits ? (gpu ? 'good' : 'slip') : 'bad'}>
        {fits ? (gpu ? 'fits' : 'slow') : 'too large'}
      </span>{' '}
      {gpu ? '' : 'No usable GPU; '}
      {needs} of {gigabytes(memory)} {gpu ? 'GPU memory' : 'memory'}
    </>
  );
}

/** Links to the form of a run with this model. */
function TrainFrom({ model }: { model: ModelEntry }) {
  const presets = useApp((state) => state.presets) ?? [];
  const route = trainFrom(model, presets);
  return (
    route && (
      <a className="button" href={formatRoute(route)}>
        Use for training
      </a>
    )
  );
}

function Actions({ model: { name, folder, source } }: { model: ModelEntry }) {
  const api = useApi();
  const [confirming, setConfirming] = useState(false);
  const [busy, perform] = useAction();
  if (source === 'added')
    return (
      <Button
        writes
        disabled={busy}
        title="Removes it from this list; its files are kept"
        onClick={() => perform(() => api.call('models.forget', { folder }))}
      >
        Remove
      </Button>
    );
  if (source !== 'downloaded') return null;
  if (!confirming)
    return (
      <Button writes kind="danger" onClick={() => setConfirming(true)}>
        Delete…
      </Button>
    );
  return (
    <fieldset className={styles.foundActions} aria-label={`Delete ${name}`}>
      <Button kind="danger" disabled={busy} onClick={() => perform(() => api.call('models.delete', { name }))}>
        Delete files
      </Button>
      <Button onClick={() => setConfirming(false)}>Keep</Button>
    </fieldset>
  );
}

function AddFolder() {
  const api = useApi();
  const lock = useWriteLock();
  const [folder, setFolder] = useState('');
  const [busy, perform] = useAction();
  return (
    <form
      className="row wrap"
      onSubmit={(event) => {
        event.preventDefault();
        perform(async () => {
          await api.call('models.add', { folder: folder.trim() });
          setFolder('');
        });
      }}
    >
      <label htmlFor="models-folder">Add local folder</label>
      <input
        id="models-folder"
        className={styles.field}
        value={folder}
        placeholder="/path/to/a/model"
        spellCheck={false}
        onChange={(event) => setFolder(event.target.value)}
      />
      <button type="submit" className="button" disabled={busy || folder.trim() === ''} {...lock}>
        Add
      </button>
    </form>
  );
}
