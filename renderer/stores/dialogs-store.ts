import { create } from 'zustand';
import type { RunSummary } from '../../core/contract/contract.ts';

/** A dialog to open, shared by all buttons, menus and shortcuts. */
type Question =
  | { kind: 'delete' | 'clean' | 'tag'; runs: readonly RunSummary[] }
  | { kind: 'rename' | 'stop' | 'export' | 'train-more'; run: RunSummary }
  | { kind: 'import' | 'empty-trash' | 'keys' | 'palette' };

interface Dialogs {
  question: Question | null;
  ask: (question: Question) => void;
  close: () => void;
}

export const useDialogs = create<Dialogs>()((set) => ({
  question: null,
  ask: (question) => set({ question }),
  close: () => set({ question: null }),
}));
