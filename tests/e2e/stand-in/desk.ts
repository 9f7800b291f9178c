import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { app } from './app.ts';

/** The desktop around the app. Prints what the app shows as lines `desk: {...}` and reads user actions as lines of JSON from
 * standard input.
 */

/** Answers to the next dialogs. */
interface Answers {
  /** Index of the button, and whether the checkbox is ticked. */
  message?: number;
  remember?: boolean;
  /** Chosen paths; empty means canceled. */
  file?: string;
  folder?: string;
}

interface Actions extends Answers {
  /** Starts the app again with these arguments. */
  second?: string[];
  close?: boolean;
  /** Clicks the newest notification. */
  click?: boolean;
  quit?: boolean;
}

/** STAND_IN_ANSWERS contains answers for startup. */
const answers: Answers = JSON.parse(process.env.STAND_IN_ANSWERS ?? '{}');

export const print = (event: object) => console.log(`desk: ${JSON.stringify(event)}`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { second, close, click, quit, ...more } = JSON.parse(line) as Actions;
  Object.assign(answers, more);
  if (second) app.emit('second-instance', {}, second);
  if (close) app.closeWindows();
  if (click) newest?.emit('click');
  if (quit) app.quit();
});
process.stdin.unref();

export const dialog = {
  showErrorBox: (title: string, content: string) => console.error(`${title}\n${content}`),
  /** With or without a window argument. */
  showMessageBox: async (...args: unknown[]) => {
    const { message, buttons } = args.at(-1) as { message: string; buttons: string[] };
    print({ message, buttons });
    return { response: answers.message ?? 0, checkboxChecked: answers.remember ?? false };
  },
  showSaveDialog: async () => ({ canceled: answers.file === undefined, filePath: answers.file }),
  showOpenDialog: async () => ({
    canceled: answers.folder === undefined,
    filePaths: answers.folder === undefined ? [] : [answers.folder],
  }),
};

let newest: Notification | undefined;

export class Notification extends EventEmitter {
  static isSupported = () => true;
  private readonly text: object;

  constructor(text: object) {
    super();
    this.text = text;
  }

  show(): void {
    newest = this;
    print({ notification: this.text });
  }
}

export class Tray {
  on(): void {}

  setToolTip(): void {}

  setContextMenu(menu: { label?: string }[]): void {
    print({ tray: menu.flatMap(({ label }) => label ?? []) });
  }
}

export const nativeImage = { createFromPath: (path: string) => ({ path }) };

export const powerSaveBlocker = {
  start: () => {
    print({ awake: true });
    return 1;
  },
  stop: () => print({ awake: false }),
};
