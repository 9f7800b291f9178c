import { useCallback, useEffect, useState } from 'react';
import type { ModelState } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';

const keyOf = (model: string) => `starpo.model-folder.${model}`;

export interface ChosenModel {
  /** The folder set by the user; empty to search the known model folders. */
  folder: string;
  setFolder: (folder: string) => void;
  /** Null while it is being checked. */
  state: ModelState | null;
  recheck: () => void;
}

/** A published model's folder, kept in local storage, and whether a run can start from it. */
export function useModel(model: string): ChosenModel {
  const api = useApi();
  const [folders, setFolders] = useState<Record<string, string>>({});
  const folder = folders[model] ?? localStorage.getItem(keyOf(model)) ?? '';
  const [checked, setChecked] = useState<{ at: string; state: ModelState } | null>(null);
  const [round, setRound] = useState(0);
  const at = `${round} ${model} ${folder}`;

  useEffect(() => {
    let active = true;
    api.call('models.inspect', { model, ...(folder === '' ? {} : { folder }) }).then(
      (state) => active && setChecked({ at, state }),
      (cause) => {
        const problem = asFailure(cause).toApiError();
        if (active) setChecked({ at, state: { folder: null, parameters: null, problem } });
      },
    );
    return () => {
      active = false;
    };
  }, [api, model, folder, at]);

  const setFolder = useCallback(
    (chosen: string) => {
      localStorage.setItem(keyOf(model), chosen);
      setFolders((all) => ({ ...all, [model]: chosen }));
    },
    [model],
  );
  return {
    folder,
    setFolder,
    state: checked?.at === at ? checked.state : null,
    recheck: () => setRound((last) => last + 1),
  };
}
