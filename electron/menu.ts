import { Menu, type MenuItemConstructorOptions } from 'electron';
import { commandMenus } from './commands-menu.ts';

interface MenuParts {
  development: boolean;
  macOS: boolean;
  /** Asks the page to do a command of the app. */
  perform(command: string): void;
  /** Brings the window to the front, at a page. */
  show(page: string): void;
  /** Forgets what is to happen where the window is closed while something trains. */
  askAgain(): void;
}

/** The menu bar. Roles bring the platform's own labels and keys. */
export function installMenu({ development, macOS, perform, show, askAgain }: MenuParts): void {
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
    {
      label: 'Window',
      submenu: [
        { role: 'minimize' },
        { role: 'close' },
        { type: 'separator' },
        { label: 'Ask again when closing while training', click: askAgain },
      ],
    },
    {
      role: 'help',
      submenu: [
        { label: 'System and checks', click: () => show('#/system') },
        { label: 'Report a problem', click: () => show('#/system') },
      ],
    },
  ];
  if (macOS) template.unshift({ role: 'appMenu' });
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
