import { Menu, type MenuItemConstructorOptions } from 'electron';
import { commandMenus } from './commands-menu.ts';

interface MenuParts {
  development: boolean;
  macOS: boolean;
  /** Runs an app command in the page. */
  perform(command: string): void;
  /** Brings the window to the front, at a page. */
  show(page: string): void;
  /** Resets the remembered choice for closing during training. */
  askAgain(): void;
}

/** Installs the menu bar. Roles use the platform's labels and shortcuts. */
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
        { label: 'Ask before closing during training', click: askAgain },
      ],
    },
    {
      role: 'help',
      submenu: [
        { label: 'System and checks', click: () => show('#/system') },
        { label: 'Report a problem', click: () => show('#/system') },
        ...(macOS ? [] : [{ role: 'about' as const }]),
      ],
    },
  ];
  if (macOS) template.unshift({ role: 'appMenu' });
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
