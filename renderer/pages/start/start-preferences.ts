import { create } from 'zustand';

const storageKey = 'starpo-start';

/** What was put away on the Start page. Kept by the browser. */
interface StartPreferences {
  /** The three steps of the first start. */
  stepsAway: boolean;
  /** The sample run's boards. */
  sampleAway: boolean;
  putStepsAway: () => void;
  putSampleAway: () => void;
}

export const useStartPreferences = create<StartPreferences>()((set) => ({
  ...stored(),
  putStepsAway: () => set({ stepsAway: true }),
  putSampleAway: () => set({ sampleAway: true }),
}));

useStartPreferences.subscribe(({ stepsAway, sampleAway }) =>
  localStorage.setItem(storageKey, JSON.stringify({ stepsAway, sampleAway })),
);

/** As far as it is of the right kind: another version may have written it. */
function stored(): Pick<StartPreferences, 'stepsAway' | 'sampleAway'> {
  let written: Record<string, unknown> = {};
  try {
    written = JSON.parse(localStorage.getItem(storageKey) ?? '{}') ?? {};
  } catch {}
  return { stepsAway: written.stepsAway === true, sampleAway: written.sampleAway === true };
}
