import { create } from 'zustand';
import { storedObject } from '../../base/stored-object.ts';

const storageKey = 'starpo-start';

/** Dismissed parts of the Start page, kept in local storage. */
interface StartPreferences {
  /** The introduction. */
  stepsDismissed: boolean;
  /** The sample run's boards. */
  sampleDismissed: boolean;
  dismissSteps: () => void;
  dismissSample: () => void;
}

export const useStartPreferences = create<StartPreferences>()((set) => ({
  ...stored(),
  dismissSteps: () => set({ stepsDismissed: true }),
  dismissSample: () => set({ sampleDismissed: true }),
}));

useStartPreferences.subscribe(({ stepsDismissed, sampleDismissed }) =>
  localStorage.setItem(storageKey, JSON.stringify({ stepsDismissed, sampleDismissed })),
);

/** Reads the stored values and ignores invalid ones, which another version may have written. */
function stored(): Pick<StartPreferences, 'stepsDismissed' | 'sampleDismissed'> {
  const parsed = storedObject(storageKey);
  return {
    stepsDismissed: parsed.stepsDismissed === true,
    sampleDismissed: parsed.sampleDismissed === true,
  };
}
