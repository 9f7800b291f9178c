import { create } from 'zustand';
import type { OwnCommand } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { Api } from '../api/api.ts';

interface Consent {
  /** The command that the user is asked about. */
  asked: OwnCommand | null;
  answer: (confirmed: boolean) => void;
}

export const useConsent = create<Consent>()(() => ({ asked: null, answer: () => {} }));

/** Shows a dialog. Resolves with false if another command is asked about already. */
function ask(command: OwnCommand): Promise<boolean> {
  if (useConsent.getState().asked) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answer = (confirmed: boolean) => {
      useConsent.setState({ asked: null, answer: () => {} });
      resolve(confirmed);
    };
    useConsent.setState({ asked: command, answer });
  });
}

/** Returns an API that asks the user before the server runs a command for the first time, then repeats the request. */
export const confirmingCommands = (api: Api): Api => ({
  ...api,
  async call(name, input, taskId) {
    for (;;) {
      try {
        return await api.call(name, input, taskId);
      } catch (cause) {
        if (!(cause instanceof Failure && cause.unconfirmed && (await ask(cause.unconfirmed)))) throw cause;
        await api.call('commands.confirm', cause.unconfirmed);
      }
    }
  },
});
