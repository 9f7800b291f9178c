import { create } from 'zustand';
import type { RunSummary } from '../../core/contract/contract.ts';

type OpenDialog =
  | { kind: 'delete' | 'clean' | 'tag'; runs: readonly RunSummary[] }
  | { kind: 'rename' | 'stop' | 'export' | 'train-more'; run: RunSummary }
  | { kind: 'import' | 'empty-trash' | 'keys' | 'palette' };

interface Dialogs {
  dialog: OpenDialog | null;
  openDialog: (dialog: OpenDialog) => void;
  closeDialog: () => void;
}

/** The open dialog, shared by all buttons, menus and shortcuts. */
export const useDialogs = create<Dialogs>()((set) => ({
  dialog: null,
  openDialog: (dialog) => set({ dialog }),
  closeDialog: () => set({ dialog: null }),
}));
