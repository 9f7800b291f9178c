import { create } from 'zustand';
import type { Advice, NewRunMarks, RunSource, RunSummary, Settings } from '../../core/contract/contract.ts';
import type { ChosenFile } from '../api/files.ts';

/** Advice that rolls the run back. */
export type RollBackAdvice = Advice & { action: Extract<Advice['action'], { kind: 'rollback' }> };

/** The jobs to submit to a cluster. `isNew`: whether the sweep was just created. */
export type JobsToSubmit =
  | { runs: readonly RunSummary[] }
  | { study: { id: string; name: string; isNew?: boolean } }
  | { newRun: { source: RunSource; set: Settings; marks?: NewRunMarks | undefined } };

type OpenDialog =
  | { kind: 'delete' | 'clean' | 'tag'; runs: readonly RunSummary[] }
  | { kind: 'rename' | 'stop' | 'export' | 'train-more'; run: RunSummary }
  /** `checkpoint`: selected first; null for the newest. */
  | { kind: 'fork' | 'evaluate'; run: RunSummary; checkpoint: number | null }
  | { kind: 'roll-back'; run: RunSummary; advice: RollBackAdvice; alertId?: string | undefined }
  /** Shows text that the browser did not allow to be copied. */
  | { kind: 'copy'; text: string }
  /** `target`: the initially selected cluster. */
  | { kind: 'submit'; jobs: JobsToSubmit; target?: string }
  | { kind: 'import'; files?: readonly ChosenFile[] }
  | { kind: 'empty-trash' | 'keys' | 'palette' };

interface Dialogs {
  dialog: OpenDialog | null;
  openDialog: (dialog: OpenDialog) => void;
  closeDialog: () => void;
  /** Closes the dialog unless it imports files, which belong to no page. */
  closePageDialog: () => void;
}

/** The open dialog, shared by all buttons, menus and shortcuts. */
export const useDialogs = create<Dialogs>()((set) => ({
  dialog: null,
  openDialog: (dialog) => set({ dialog }),
  closeDialog: () => set({ dialog: null }),
  closePageDialog: () => set(({ dialog }) => ({ dialog: dialog?.kind === 'import' ? dialog : null })),
}));
