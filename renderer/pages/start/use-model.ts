import { useCallback, useEffect, useState } from 'react';
import type { ModelState } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';

const keyOf = (model: string) => `starpo.model-folder.${model}`;

export interface ChosenModel {
  /** The folder set by the user; empty to search the model folders. */
  folder: string;
  setFolder: (folder: string) => void;
  /** Null while it is being checked. */
  state: ModelState | null;
  recheck: () => void;
}

/** Returns a published model's folder, stored in the browser, and whether a run can start from it. */
export function useModel(model: string): ChosenModel {
  const api = useApi();
  const [folders, setFolders] = useState<Record<string, string>>({});
  const folder = folders[model] ?? localStorage.getItem(keyOf(model)) ?? '';
  const [checked, setChecked] = useState<{ key: string; state: ModelState } | null>(null);
  const [check, setCheck] = useState(0);
  const key = `${check} ${model} ${folder}`;

  useEffect(() => {
    let active = true;
    api.call('models.inspect', { model, ...(folder === '' ? {} : { folder }) }).then(
      (state) => active && setChecked({ key, state }),
      (cause) => {
        const problem = asFailure(cause).toApiError();
        if (active) setChecked({ key, state: { folder: null, parameters: null, problem } });
      },
    );
    return () => {
      active = false;
    };
  }, [api, model, folder, key]);

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
    state: checked?.key === key ? checked.state : null,
    recheck: () => setCheck((last) => last + 1),
  };
}
