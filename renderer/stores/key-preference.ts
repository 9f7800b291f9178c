import { create } from 'zustand';

const storageKey = 'starpo-single-keys';

interface KeyPreference {
  /** Whether shortcuts without Ctrl or Cmd are on. WCAG 2.1.4 requires a way to turn them off. */
  singleKeys: boolean;
  setSingleKeys: (singleKeys: boolean) => void;
}

export const useKeyPreference = create<KeyPreference>()((set) => ({
  singleKeys: localStorage.getItem(storageKey) !== 'off',
  setSingleKeys: (singleKeys) => {
    if (singleKeys) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, 'off');
    set({ singleKeys });
  },
}));
