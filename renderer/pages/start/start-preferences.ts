import { create } from 'zustand';

const storageKey = 'starpo-start';

/** Dismissed parts of the Start page, kept in local storage. */
interface StartPreferences {
  /** The introduction. */
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

/** Reads the stored values and ignores invalid ones, which another version may have written. */
function stored(): Pick<StartPreferences, 'stepsAway' | 'sampleAway'> {
  let written: Record<string, unknown> = {};
  try {
    written = JSON.parse(localStorage.getItem(storageKey) ?? '{}') ?? {};
  } catch {}
  return { stepsAway: written.stepsAway === true, sampleAway: written.sampleAway === true };
}
