import { setTimeout as pause } from 'node:timers/promises';
import type { ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { channelPair } from '../../core/contract/channel.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import type { Core, CoreOptions } from '../../core/index.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { connect } from '../../renderer/api/connection.ts';
import { ApiContext } from '../../renderer/api/context.ts';
import { App } from '../../renderer/app.tsx';
import { useTheme } from '../../renderer/base/theme.ts';
import { useChartPreferences } from '../../renderer/charts/preferences.ts';
import { useNotifications } from '../../renderer/notifications/notifications.ts';
import { useFilter } from '../../renderer/pages/history/filter.ts';
import { useTokenPreference } from '../../renderer/pages/replay/tokens/token-preference.ts';
import { useStartPreferences } from '../../renderer/pages/start/start-preferences.ts';
import { useRunTables } from '../../renderer/run-table/preferences.ts';
import { useApp } from '../../renderer/stores/app-store.ts';
import { useConsent } from '../../renderer/stores/consent-store.ts';
import { useDialogs } from '../../renderer/stores/dialogs-store.ts';
import { useKeyPreference } from '../../renderer/stores/key-preference.ts';
import { untilRun, World } from '../core/fixtures/world.ts';

/** Small, so that the fake trainer exits quickly. */
export const small = {
  iterations: 4,
  'evaluation.every': 2,
  'evaluation.levels': 16,
  'checkpoint.every': 2,
  'rollout.groups': 2,
  'rollout.group_size': 4,
  'policy_loss.mini_batch': 4,
};

/** State that would outlive a page. */
const stores: readonly { setState(state: unknown): void; getInitialState(): unknown }[] = [
  useApp,
  useChartPreferences,
  useConsent,
  useDialogs,
  useFilter,
  useKeyPreference,
  useNotifications,
  useRunTables,
  useStartPreferences,
  useTheme,
  useTokenPreference,
];

/** Adds browser features that jsdom lacks. */
function completeBrowser(): void {
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  globalThis.IntersectionObserver = class {
    readonly callback: IntersectionObserverCallback;
    constructor(callback: IntersectionObserverCallback) {
      this.callback = callback;
    }
    observe() {
      this.callback([{ isIntersecting: true } as IntersectionObserverEntry], this as never);
    }
    unobserve() {}
    disconnect() {}
  } as never;
  window.matchMedia = () => ({ matches: true, addEventListener: () => {} }) as unknown as MediaQueryList;
  Element.prototype.scrollTo = () => {};
  HTMLCanvasElement.prototype.getContext = () => null;
}

/** Resolves when the document changes, or after a timeout, because a condition might not depend on the document. */
async function changed(): Promise<void> {
  let observer: MutationObserver | undefined;
  const change = new Promise<void>((resolve) => {
    observer = new MutationObserver(() => resolve());
    observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  });
  // Batch simultaneous changes.
  await pause(5);
  await Promise.race([change, pause(50)]);
  observer?.disconnect();
}

/** The complete app with its own server and the fake trainer. */
export class Page {
  readonly host = document.body.appendChild(document.createElement('div'));
  readonly world: World;
  readonly core: Core;
  private readonly root: Root;

  private constructor(world: World, core: Core) {
    completeBrowser();
    this.world = world;
    this.core = core;
    this.root = createRoot(this.host);
  }

  /** Starts the app with a new data folder and copies of the runs in another folder. */
  static async start(template?: World, trainerPath?: string, options?: Partial<CoreOptions>): Promise<Page> {
    const world = new World();
    template?.copyRunsTo(world);
    return Page.startIn(world, trainerPath, options);
  }

  /** Starts the app with an existing data folder, which is deleted when the page closes. */
  static async startIn(world: World, trainerPath?: string, options?: Partial<CoreOptions>): Promise<Page> {
    return new Page(world, await world.core(trainerPath, options));
  }

  /** Opens an address. The page connects when `connected` resolves. */
  open(hash: string, connected?: Promise<void>): void {
    history.replaceState(null, '', hash);
    this.render(<App />, connected);
  }

  /** Renders an element with the API. */
  render(content: ReactNode, connected = Promise.resolve()): void {
    const { left, right } = channelPair();
    serveChannel(this.core, right);
    const api = connect(() => connected.then(() => left));
    this.root.render(<ApiContext value={api}>{content}</ApiContext>);
  }

  /** Waits until `find` returns a value. */
  async shown<T>(find: () => T | null | undefined | false): Promise<T> {
    const end = performance.now() + 50_000;
    while (performance.now() < end) {
      const found = find();
      if (found) return found;
      await changed();
    }
    throw new Error(`never shown; at ${location.hash} page text: ${this.host.textContent}`);
  }

  find<E extends Element = HTMLElement>(selector: string): E | null {
    return this.host.querySelector<E>(selector);
  }

  all<E extends Element = HTMLElement>(selector: string): E[] {
    return [...this.host.querySelectorAll<E>(selector)];
  }

  /** Finds an element by selector and text. */
  withText(selector: string, text: string | RegExp): () => HTMLElement | undefined {
    return () => this.all(selector).find((element) => element.textContent?.match(text));
  }

  /** Clicks an element once it exists and is enabled. */
  async click(find: string | (() => HTMLElement | null | undefined)): Promise<void> {
    const button = await this.shown(() => {
      const found = typeof find === 'string' ? this.find(find) : find();
      return found && !(found as HTMLButtonElement).disabled ? found : null;
    });
    button.click();
  }

  press(key: string): void {
    dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true }));
  }

  /** Sets a field's value like typing. */
  write(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')!;
    set!.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  /** Selects an option. */
  choose(field: HTMLSelectElement, value: string): void {
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }

  /** Stops runs and deletes everything. */
  async close(): Promise<void> {
    const { core } = this;
    this.root.unmount();
    this.host.remove();
    for (const store of stores) store.setState(store.getInitialState());
    localStorage.clear();
    for (const { id, status } of core.runs.list()) {
      if (!isLive(status)) continue;
      // The run may have just ended.
      await core.runs.command(id, 'stop').catch(() => {});
      await untilRun(core, id, (run) => !isLive(run.status));
    }
    await this.world.close();
  }
}
