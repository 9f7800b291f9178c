import type { MessageBoxOptions, MessageBoxReturnValue } from 'electron';
import type { RunSummary } from '../core/contract/contract.ts';
import type { Preferences } from './preferences.ts';
import { runLine } from './tray.ts';

/** `background`: the window goes and the app stays in the tray; `quit`: both go; `stay`: nothing happens. */
export type Closing = 'background' | 'quit' | 'stay';

interface Parts {
  active(): RunSummary[];
  /** Settles once every trainer has written a checkpoint and ended; fails where one can't be asked. */
  stopAll(): Promise<void>;
  ask(options: MessageBoxOptions): Promise<Pick<MessageBoxReturnValue, 'response' | 'checkboxChecked'>>;
  preferences: Preferences;
  /** Whether there is a tray to stay in. */
  hasTray: boolean;
}

const choices = ['keep', 'stop', 'stay'] as const;

/** What closing the window means while something trains: asked, unless the person has said so once and for all. */
export async function decideClosing(parts: Parts, quitting: boolean): Promise<Closing> {
  const active = parts.active();
  if (active.length === 0) return 'quit';
  const choice = parts.preferences.closing ?? (await ask(parts, active, quitting));
  if (choice === 'stay') return 'stay';
  if (choice === 'stop') {
    try {
      await parts.stopAll();
    } catch (error) {
      // Where it can't be done, one must be able to choose something else the next time.
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
    message: active.length === 1 ? 'A run is training.' : `${active.length} runs are training.`,
    detail: `${active.map(runLine).join('\n')}\n\n${
      stays
        ? 'In the background StarPO Studio stays in the tray: it warns of collapse and starts what waits.'
        : 'Training needs no app to go on. Without one nobody warns of collapse, and what waits stays waiting.'
    }`,
    buttons: [
      stays ? 'Keep training in the background' : 'Keep training',
      'Stop after a checkpoint',
      'Cancel',
    ],
    defaultId: 0,
    cancelId: 2,
    checkboxLabel: 'Remember my choice',
    noLink: true,
  });
  const choice = choices[response] ?? 'stay';
  if (checkboxChecked && choice !== 'stay') preferences.closing = choice;
  return choice;
}
