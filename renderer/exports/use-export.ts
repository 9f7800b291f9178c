import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiError, ExportFormat, ExportSource, Task } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { useApi } from '../api/context.ts';
import { inDesktop, saveExport } from '../api/files.ts';

interface ExportState {
  /** The format being exported. */
  format: ExportFormat | null;
  task: Task | null;
  /** Result of the last export. */
  result: { format: ExportFormat; text: string } | null;
  problem: { format: ExportFormat; error: ApiError } | null;
}

const idle: ExportState = { format: null, task: null, result: null, problem: null };

export interface Exporting extends ExportState {
  start(format: ExportFormat, source: ExportSource): Promise<void>;
  cancel(): void;
}

/** Exports a run, or a sweep (`runId` null), one format at a time, and saves the files. */
export function useExport(runId: string | null): Exporting {
  const api = useApi();
  const [state, setState] = useState(idle);
  const taskId = useRef<string | null>(null);
  useEffect(
    () =>
      api.on(
        'task',
        (task) => {
          if (task.kind !== 'export' || task.runId !== runId) return;
          taskId.current = task.state === 'running' ? task.id : null;
          setState((before) => (before.format === null ? before : { ...before, task }));
        },
        runId ?? undefined,
      ),
    [api, runId],
  );
  const start = useCallback(
    async (format: ExportFormat, source: ExportSource) => {
      setState({ ...idle, format });
      try {
        const files = await api.call('exports.make', { of: source, format, packed: !inDesktop() });
        const text = await saveExport(api, files);
        setState({ ...idle, result: { format, text: text ?? 'Not saved' } });
      } catch (cause) {
        const error = asFailure(cause).toApiError();
        const canceled = error.code === 'task_canceled';
        setState(
          canceled ? { ...idle, result: { format, text: 'Canceled' } } : { ...idle, problem: { format, error } },
        );
      }
    },
    [api],
  );
  const cancel = useCallback(() => {
    // The task may already have ended.
    if (taskId.current) void api.call('tasks.cancel', { taskId: taskId.current }).catch(() => {});
  }, [api]);
  return { ...state, start, cancel };
}
