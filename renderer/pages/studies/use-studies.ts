import { useEffect, useState } from 'react';
import type { Study, StudySummary } from '../../../core/contract/contract.ts';
import { type Api, isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';
import { createCatchUp } from '../../stores/catch-up.ts';

/** All sweeps, oldest first; null while loading. */
export function useStudies(): StudySummary[] | null {
  const api = useApi();
  const [studies, setStudies] = useState<StudySummary[] | null>(null);
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
            (list) => setStudies(list),
          )
          .catch(unlessLost);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [api]);
  return studies;
}

function withStudy(loaded: StudySummary[], id: string, summary: StudySummary | null): StudySummary[] {
  if (!summary) return loaded.filter((study) => study.id !== id);
  const place = loaded.findIndex((study) => study.id === id);
  return place < 0 ? [...loaded, summary] : loaded.with(place, summary);
}

/** A sweep with its table; null while loading, `gone` if it doesn't exist. Changes during a request cause one more request
 * after it.
 */
export function useStudy(studyId: string): Study | null | 'gone' {
  const api = useApi();
  const [loaded, setLoaded] = useState<{ id: string; study: Study | 'gone' } | null>(null);
  useEffect(() => {
    let active = true;
    let asking = false;
    let again = false;
    const show = (study: Study | 'gone') => active && setLoaded({ id: studyId, study });
    async function ask(): Promise<void> {
      again = asking;
      if (asking) return;
      asking = true;
      try {
        show(await api.call('studies.get', { studyId }));
      } catch (cause) {
        if ((cause as { code?: string }).code === 'study_unknown') show('gone');
        else unlessLost(cause);
      }
      asking = false;
      if (again && active) await ask();
    }
    const stops = [
      api.on('study', (notice) => {
        if (notice.studyId !== studyId) return;
        if (notice.summary) void ask();
        else show('gone');
      }),
      onOpen(api, () => void ask()),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api, studyId]);
  return loaded?.id === studyId ? loaded.study : null;
}

/** Calls back after every (re)connection, because notices may have been missed. */
const onOpen = (api: Api, ask: () => void) =>
  api.onState((connection) => {
    if (connection === 'open') ask();
  });

function unlessLost(cause: unknown): void {
  if (!isConnectionLost(cause)) useApp.getState().report(cause);
}
