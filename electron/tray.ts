import type { Menu, MenuItemConstructorOptions, Tray } from 'electron';
import type { RunSummary } from '../core/contract/contract.ts';

interface Host {
  /** Focuses the window, optionally at a page. */
  show(page?: string): void;
  quit(): void;
}

/** Maximum number of runs in the menu. */
const listed = 8;

/** `FrozenLake a16c: 45 of 120, about 5 min left`. */
export function runLine({ name, status, iteration, iterations, etaSeconds }: RunSummary): string {
  const done = `${name}: ${iteration} of ${iterations}`;
  if (status === 'paused') return `${done}, paused`;
  return etaSeconds === null ? done : `${done}, about ${minutes(etaSeconds)} left`;
}

function minutes(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const whole = Math.round(seconds / 60);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${whole % 60} min`;
}

/** Returns the tray menu: open the app, active runs, quit. `hasWindow`: quitting closes it first, which decides about active runs. */
export function trayTemplate(
  active: readonly RunSummary[],
  hasWindow: boolean,
  host: Host,
): MenuItemConstructorOptions[] {
  const runs = active.slice(0, listed).map((run) => ({
    label: runLine(run),
    click: () => host.show(`#/run/${run.id}`),
  }));
  const more = active.length - runs.length;
  return [
    { label: 'Open StarPO Studio', click: () => host.show() },
    { type: 'separator' },
    ...(runs.length > 0 ? runs : [{ label: 'No active runs', enabled: false }]),
    ...(more > 0 ? [{ label: `and ${more} more`, click: () => host.show() }] : []),
    { type: 'separator' },
    { label: active.length > 0 && !hasWindow ? 'Quit (training continues)' : 'Quit', click: () => host.quit() },
  ];
}

/** Shows active runs in the tray. */
export class TrayMenu {
  private readonly tray: Tray;
  private readonly menus: typeof Menu;
  private readonly host: Host;
  private shown = '';

  constructor(tray: Tray, menus: typeof Menu, host: Host) {
    this.tray = tray;
    this.menus = menus;
    this.host = host;
    tray.on('click', () => host.show());
    this.update([], true);
  }

  /** Rebuilds the menu only if it changes, because rebuilding closes an open menu. */
  update(active: readonly RunSummary[], hasWindow: boolean): void {
    const text = active.map(runLine).join('\n');
    const menu = `${hasWindow}\n${text}`;
    if (menu === this.shown) return;
    this.shown = menu;
    this.tray.setToolTip(text === '' ? 'StarPO Studio' : `StarPO Studio\n${text}`);
    this.tray.setContextMenu(this.menus.buildFromTemplate(trayTemplate(active, hasWindow, this.host)));
  }
}
