import { useEffect, useState } from 'react';
import type { Output, Task } from '../../../core/contract/contract.ts';
import { Failure } from '../../../core/contract/failure.ts';
import { isConnectionLost, onOpen } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

type ModelList = Output<'models.list'>;

/** Returns the list of models, reloaded after changes, whether it can't be loaded, and the active downloads by task id. */
export function useModels(): { list: ModelList | null; failed: boolean; tasks: ReadonlyMap<string, Task> } {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [list, setList] = useState<ModelList | null>(null);
  const [failed, setFailed] = useState(false);
  const [tasks, setTasks] = useState<ReadonlyMap<string, Task>>(new Map());
  useEffect(() => {
    let active = true;
    const fail = (cause: unknown) => {
      if (active && !isConnectionLost(cause)) report(cause);
    };
    const request = () =>
      api.call('models.list', {}).then(
        (found) => {
          if (!active) return;
          setList(found);
          setFailed(false);
        },
        (cause) => {
          setFailed(!isConnectionLost(cause));
          fail(cause);
        },
      );
    const update = (task: Task) => {
      if (task.kind !== 'download') return;
      setTasks((previous) => new Map(previous).set(task.id, task));
      // Report a failure here even if another window started the download.
      if (task.state !== 'failed' || !task.failure) return;
      const { code, message, hint } = task.failure;
      fail(new Failure(code, message, hint));
    };
    const stops = [
      api.on('models', () => void request()),
      api.on('task', update),
      onOpen(api, () => {
        void request();
        api.call('tasks.list', {}).then((running) => active && running.forEach(update), fail);
      }),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api, report]);
  return { list, failed, tasks };
}
