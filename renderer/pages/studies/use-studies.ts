import { useEffect, useState } from 'react';
import type { Study, StudySummary } from '../../../core/contract/contract.ts';
import { isConnectionLost, onOpen } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';
import { createCatchUp } from '../../stores/catch-up.ts';

/** Returns all sweeps, oldest first; null until they are loaded. `failed`: they can't be loaded. */
export function useStudies(): { studies: StudySummary[] | null; failed: boolean } {
  const api = useApi();
  const [studies, setStudies] = useState<StudySummary[] | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const catchUp = createCatchUp();
    const stops = [
      api.on('study', ({ studyId, summary }) =>
        catchUp.notice(() => setStudies((loaded) => loaded && withStudy(loaded, studyId, summary))),
      ),
      onOpen(api, () => {
        catchUp
          .snapshot(
            () => api.call('studies.list', {}),
            (list) => {
              setStudies(list);
              setFailed(false);
            },
          )
          .catch((cause) => setFailed(reportUnlessLost(cause)));
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [api]);
  return { studies, failed };
}

function withStudy(loaded: StudySummary[], id: string, summary: StudySummary | null): StudySummary[] {
  if (!summary) return loaded.filter((study) => study.id !== id);
  const index = loaded.findIndex((study) => study.id === id);
  return index < 0 ? [...loaded, summary] : loaded.with(index, summary);
}

/**
 * Returns a sweep with its table; null while loading, `missing` if it doesn't exist, `failed` if it can't be loaded. Changes during a
 * request cause another request.
 */
export function useStudy(studyId: string): Study | null | 'missing' | 'failed' {
  const api = useApi();
  const [loaded, setLoaded] = useState<{ id: string; study: Study | 'missing' | 'failed' } | null>(null);
  useEffect(() => {
    let active = true;
    let pending = false;
    let again = false;
    const show = (study: Study | 'missing') => active && setLoaded({ id: studyId, study });
    // A loaded table stays.
    const showFailure = () =>
      active && setLoaded((last) => (last?.id === studyId ? last : { id: studyId, study: 'failed' }));
    async function request(): Promise<void> {
      again = pending;
      if (pending) return;
      pending = true;
      try {
        show(await api.call('studies.get', { studyId }));
      } catch (cause) {
        if ((cause as { code?: string }).code === 'study_unknown') show('missing');
        else if (reportUnlessLost(cause)) showFailure();
      }
      pending = false;
      if (again && active) await request();
    }
    const stops = [
      api.on('study', (notice) => {
        if (notice.studyId !== studyId) return;
        if (notice.summary) void request();
        else show('missing');
      }),
      onOpen(api, () => void request()),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api, studyId]);
  return loaded?.id === studyId ? loaded.study : null;
}

/** Returns false for a lost connection, after which the request is repeated. */
function reportUnlessLost(cause: unknown): boolean {
  if (isConnectionLost(cause)) return false;
  useApp.getState().report(cause);
  return true;
}
