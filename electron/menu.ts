import { Menu, type MenuItemConstructorOptions } from 'electron';
import { commandMenus } from './commands-menu.ts';

interface MenuParts {
  development: boolean;
  macOS: boolean;
  /** Asks the page to do a command of the app. */
  perform(command: string): void;
}

/** The menu bar. Roles bring the platform's own labels and keys. */
export function installMenu({ development, macOS, perform }: MenuParts): void {
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
  ];
  if (development) view.push({ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' });
  const template: MenuItemConstructorOptions[] = [
    { role: 'fileMenu' },
    { role: 'editMenu' },
    ...commandMenus(perform),
    { label: 'View', submenu: view },
    { role: 'windowMenu' },
  ];
  if (macOS) template.unshift({ role: 'appMenu' });
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
