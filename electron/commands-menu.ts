import type { MenuItemConstructorOptions } from 'electron';
import { type CommandFacts, commandIds, factsOf } from '../core/contract/commands.ts';

const titles: Record<CommandFacts['menu'], string> = { Go: 'Go', Run: 'Run', App: 'Tools' };

/** The app's own commands as menus. The page does what is chosen, where it can be done at present, and hears the keys itself. */
export function commandMenus(perform: (id: string) => void): MenuItemConstructorOptions[] {
  return (['Go', 'Run', 'App'] as const).map((menu) => ({
    label: titles[menu],
    submenu: commandIds
      .filter((id) => factsOf(id).menu === menu)
      .map((id) => ({ label: factsOf(id).title, click: () => perform(id), ...keysOf(factsOf(id)) })),
  }));
}

/** Shown beside the title, and left to the page; a sign alone can't be shown. */
function keysOf({ keys }: CommandFacts): MenuItemConstructorOptions {
  if (!keys?.includes('Mod')) return {};
  return { accelerator: keys.replace('Mod', 'CommandOrControl'), registerAccelerator: false };
}
