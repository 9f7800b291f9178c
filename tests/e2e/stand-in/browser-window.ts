import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Frame, Page } from 'playwright-core';
import { app, Preventable } from './app.ts';
import { print } from './desk.ts';
import { toApp, toPage } from './origin.ts';
import { preloadScript } from './preload.ts';
import { routeRequests } from './protocol.ts';

interface WindowOptions {
  title?: string;
  webPreferences?: { preload?: string };
}

type Answerer = (event: object, ...args: unknown[]) => unknown;

/** Messages and requests from pages. */
class IpcMain extends EventEmitter {
  private readonly answerers = new Map<string, Answerer>();

  handle(channel: string, answer: Answerer): void {
    this.answerers.set(channel, answer);
  }

  async answer(channel: string, event: object, ...args: unknown[]): Promise<unknown> {
    return this.answerers.get(channel)?.(event, ...args);
  }
}

export const ipcMain = new IpcMain();

let lastId = 0;

/** The contents of a window: a page, once loaded. */
class WebContents extends EventEmitter {
  readonly id = ++lastId;
  private page: Page | null = null;
  private mayOpen: (details: { url: string }) => { action: string } = () => ({ action: 'allow' });

  /** Drops messages to a closing page, like Electron. */
  send(channel: string, ...args: unknown[]): void {
    this.page
      ?.evaluate(([name, values]) => (globalThis as unknown as Receiver).standInReceive(name, values), [
        channel,
        args,
      ] as const)
      .catch(() => {});
  }

  isDestroyed(): boolean {
    return this.page?.isClosed() ?? false;
  }

  setWindowOpenHandler(handler: typeof this.mayOpen): void {
    this.mayOpen = handler;
  }

  async show(page: Page, preload: string | undefined): Promise<void> {
    this.page = page;
    await routeRequests(page);
    await page.exposeBinding('standInSend', ({ frame }, channel: string, ...args: unknown[]) => {
      ipcMain.emit(channel, { sender: this, senderFrame: describe(frame) }, ...args);
    });
    await page.exposeBinding('standInAsk', ({ frame }, channel: string, ...args: unknown[]) =>
      ipcMain.answer(channel, { sender: this, senderFrame: describe(frame) }, ...args),
    );
    if (preload) await page.addInitScript(preloadScript(readFileSync(preload, 'utf8')));
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) return;
      const isMainFrame = request.frame() === page.mainFrame();
      this.emit('did-start-navigation', { isMainFrame, isSameDocument: false });
    });
    page.on('popup', (popup) => {
      if (this.mayOpen({ url: toApp(popup.url()) }).action === 'deny') void popup.close();
    });
    page.on('crash', () => this.emit('render-process-gone'));
    page.on('close', () => this.emit('destroyed'));
  }
}

interface Receiver {
  standInReceive(channel: string, args: readonly unknown[]): void;
}

interface SenderFrame {
  url: string;
  parent: SenderFrame | null;
}

function describe(frame: Frame): SenderFrame {
  const parent = frame.parentFrame();
  return { url: toApp(frame.url()), parent: parent && describe(parent) };
}

/** A window is a page in the app's browser; closing the page closes the window. */
export class BrowserWindow extends EventEmitter {
  readonly webContents = new WebContents();
  private readonly page: Promise<Page>;

  constructor({ webPreferences }: WindowOptions) {
    super();
    app.opened(this);
    app.emit('web-contents-created', {}, this.webContents);
    this.page = this.open(webPreferences?.preload);
  }

  async loadURL(address: string): Promise<void> {
    const page = await this.page;
    await page.goto(toPage(address), { waitUntil: 'domcontentloaded' });
    this.emit('ready-to-show');
  }

  show(): void {}

  focus(): void {
    void this.page.then((page) => page.bringToFront());
  }

  isFocused(): boolean {
    return true;
  }

  isMinimized(): boolean {
    return false;
  }

  restore(): void {}

  setProgressBar(share: number): void {
    print({ progress: Math.round(share * 100) / 100 });
  }

  isDestroyed(): boolean {
    return this.webContents.isDestroyed();
  }

  destroy(): void {
    void this.page.then((page) => page.close());
  }

  close(): void {
    const event = new Preventable();
    this.emit('close', event);
    if (!event.prevented) void this.page.then((page) => page.close());
  }

  private async open(preload: string | undefined): Promise<Page> {
    const page = await (await app.browser).newPage();
    page.on('close', () => {
      this.emit('closed');
      app.closed(this);
    });
    await this.webContents.show(page, preload);
    return page;
  }
}
