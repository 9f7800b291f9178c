import type { MessageBoxOptions, MessageBoxReturnValue } from 'electron';
import type { RunSummary } from '../core/contract/contract.ts';
import type { Preferences } from './preferences.ts';
import { runLine } from './tray.ts';

/** `background`: close the window, stay in the tray; `quit`: quit the app; `stay`: cancel. */
export type Closing = 'background' | 'quit' | 'stay';

interface Parts {
  active(): RunSummary[];
  /** Resolves when every trainer has saved a checkpoint and ended; rejects if one can't be stopped. */
  stopAll(): Promise<void>;
  ask(options: MessageBoxOptions): Promise<Pick<MessageBoxReturnValue, 'response' | 'checkboxChecked'>>;
  preferences: Preferences;
  /** Whether the desktop has a tray. */
  hasTray: boolean;
}

const choices = ['keep', 'stop', 'stay'] as const;

/** Decides what closing the window does during training: the remembered choice, else asks the user. */
export async function decideClosing(parts: Parts, quitting: boolean): Promise<Closing> {
  const active = parts.active();
  if (active.length === 0) return 'quit';
  const choice = parts.preferences.closing ?? (await ask(parts, active, quitting));
  if (choice === 'stay') return 'stay';
  if (choice === 'stop') {
    try {
      await parts.stopAll();
    } catch (error) {
      // If stopping fails, ask again the next time.
      parts.preferences.closing = null;
      throw error;
    }
    return 'quit';
  }
  return parts.hasTray && !quitting ? 'background' : 'quit';
}

async function ask(
  { ask, preferences, hasTray }: Parts,
  active: readonly RunSummary[],
  quitting: boolean,
): Promise<(typeof choices)[number]> {
  const stays = hasTray && !quitting;
  const { response, checkboxChecked } = await ask({
    type: 'question',
    message: active.length === 1 ? 'A run is active.' : `${active.length} runs are active.`,
    detail: `${active.map(runLine).join('\n')}\n\n${
      stays
        ? 'In the background, StarPO Studio stays in the tray, warns of collapse and starts queued runs.'
        : "Training continues without the app. Collapse warnings, automatic actions and this machine's queue need the app or `starpo serve`."
    }`,
    buttons: [stays ? 'Keep training in the background' : 'Keep training', 'Save a checkpoint and stop', 'Cancel'],
    defaultId: 0,
    cancelId: 2,
    checkboxLabel: 'Remember my choice',
    noLink: true,
  });
  const choice = choices[response] ?? 'stay';
  if (checkboxChecked && choice !== 'stay') preferences.closing = choice;
  return choice;
}
