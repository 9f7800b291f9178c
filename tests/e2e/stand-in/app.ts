import { EventEmitter } from 'node:events';
import { resolve } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { restartStatus } from './exit-status.ts';

/** An event whose default a listener can prevent. */
export class Preventable {
  prevented = false;
  preventDefault(): void {
    this.prevented = true;
  }
}

interface Closable {
  close(): void;
}

/** The app's lifecycle. `quit` closes windows first; a `will-quit` listener can postpone it. */
class App extends EventEmitter {
  /** Whether the app is packaged; then STAND_IN_RESOURCES is its resources folder. */
  readonly isPackaged = process.env.STAND_IN_RESOURCES !== undefined;
  readonly browser: Promise<BrowserContext> = connect();
  private readonly windows = new Set<Closable>();
  private quitting = false;
  private status = 0;

  getAppPath(): string {
    return resolve(process.argv[2] ?? '.');
  }

  async whenReady(): Promise<void> {
    await this.browser;
  }

  requestSingleInstanceLock(): boolean {
    return true;
  }

  enableSandbox(): void {}

  setAsDefaultProtocolClient(): boolean {
    return true;
  }

  getPath(name: string): string {
    return resolve(process.env.STARPO_HOME || process.env.XDG_DATA_HOME || '.', `desktop-${name}`);
  }

  /** The user closes the window by its frame. */
  closeWindows(): void {
    for (const window of this.windows) window.close();
  }

  quit(): void {
    this.emit('before-quit');
    this.quitting = true;
    if (this.windows.size === 0) this.end();
    for (const window of this.windows) window.close();
  }

  /** The test restarts the app, as the exit status requests. */
  relaunch(): void {
    this.status = restartStatus;
  }

  exit(status = this.status): void {
    process.exit(status);
  }

  opened(window: Closable): void {
    this.windows.add(window);
  }

  closed(window: Closable): void {
    this.windows.delete(window);
    if (this.windows.size > 0) return;
    if (this.quitting) this.end();
    else if (!this.emit('window-all-closed')) this.quit();
  }

  private end(): void {
    const event = new Preventable();
    this.emit('will-quit', event);
    if (event.prevented) this.quitting = false;
    else this.exit();
  }
}

async function connect(): Promise<BrowserContext> {
  const browser = await chromium.connectOverCDP(process.env.STAND_IN_BROWSER ?? '');
  browser.on('disconnected', () => process.exit(1));
  return browser.contexts()[0]!;
}

export const app = new App();
Object.assign(process, { resourcesPath: process.env.STAND_IN_RESOURCES });
process.on('SIGTERM', () => app.quit());
