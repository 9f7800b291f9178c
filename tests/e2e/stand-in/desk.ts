import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { app } from './app.ts';

/**
 * The desktop around the app, for a test that plays the person: what the app shows there is printed as lines `desk: {...}`, and what the person does comes as lines of
 * JSON on standard input.
 */

/** What the person answers to the next dialogs. */
interface Answers {
  /** Number of the button, and whether the box was ticked. */
  message?: number;
  remember?: boolean;
  /** Paths that were chosen; none: cancelled. */
  file?: string;
  folder?: string;
}

interface Deed extends Answers {
  /** Starts the app once more, with these arguments. */
  second?: string[];
  close?: boolean;
  /** Clicks the newest notification. */
  click?: boolean;
  quit?: boolean;
}

/** STAND_IN_ANSWERS has those that count from the start. */
const answers: Answers = JSON.parse(process.env.STAND_IN_ANSWERS ?? '{}');

export const say = (what: object) => console.log(`desk: ${JSON.stringify(what)}`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { second, close, click, quit, ...more } = JSON.parse(line) as Deed;
  Object.assign(answers, more);
  if (second) app.emit('second-instance', {}, second);
  if (close) app.closeWindows();
  if (click) newest?.emit('click');
  if (quit) app.quit();
});
process.stdin.unref();

export const dialog = {
  showErrorBox: (title: string, content: string) => console.error(`${title}\n${content}`),
  /** Of a window, or of none. */
  showMessageBox: async (...of: unknown[]) => {
    const { message, buttons } = of.at(-1) as { message: string; buttons: string[] };
    say({ message, buttons });
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
    say({ notification: this.text });
  }
}

export class Tray {
  on(): void {}

  setToolTip(): void {}

  setContextMenu(menu: { label?: string }[]): void {
    say({ tray: menu.flatMap(({ label }) => label ?? []) });
  }
}

export const nativeImage = { createFromPath: (path: string) => ({ path }) };

export const powerSaveBlocker = {
  start: () => {
    say({ awake: true });
    return 1;
  },
  stop: () => say({ awake: false }),
};
