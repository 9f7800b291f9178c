import { create } from 'zustand';
import type { OwnCommand } from '../../core/contract/contract.ts';

interface Consent {
  /** The command that the user is asked about. */
  asked: OwnCommand | null;
  answer: (confirmed: boolean) => void;
}

export const useConsent = create<Consent>()(() => ({ asked: null, answer: () => {} }));

/** Shows a dialog. Resolves with false if a dialog for another command is open. */
export function askInDialog(command: OwnCommand): Promise<boolean> {
  if (useConsent.getState().asked) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answer = (confirmed: boolean) => {
      useConsent.setState({ asked: null, answer: () => {} });
      resolve(confirmed);
    };
    useConsent.setState({ asked: command, answer });
  });
}
