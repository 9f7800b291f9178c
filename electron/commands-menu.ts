import type { MenuItemConstructorOptions } from 'electron';
import { type CommandFacts, commandIds, factsOf } from '../core/contract/commands.ts';

const titles: Record<CommandFacts['menu'], string> = { Go: 'Go', Run: 'Run', App: 'Tools' };

/** Menus of the app's commands. The page runs a chosen command if available, and handles shortcuts itself. */
export function commandMenus(perform: (id: string) => void): MenuItemConstructorOptions[] {
  return (['Go', 'Run', 'App'] as const).map((menu) => ({
    label: titles[menu],
    submenu: commandIds
      .filter((id) => factsOf(id).menu === menu)
      .map((id) => ({ label: factsOf(id).title, click: () => perform(id), ...keysOf(factsOf(id)) })),
  }));
}

/** Shows the shortcut without registering it, because the page handles it. Electron can't show keys without a modifier. */
function keysOf({ keys }: CommandFacts): MenuItemConstructorOptions {
  if (!keys?.includes('Mod')) return {};
  return { accelerator: keys.replace('Mod', 'CommandOrControl'), registerAccelerator: false };
}
