import { expect, test } from 'vitest';
import { commandIds, factsOf } from '../core/contract/commands.ts';
import { commandMenus } from './commands-menu.ts';

test('every command is in the menu bar with its shortcut and runs in the page', () => {
  const asked: string[] = [];
  const items = commandMenus((id) => asked.push(id)).flatMap(({ submenu }) => submenu as object[]);
  for (const item of items) (item as { click: () => void }).click();
  expect(asked.toSorted()).toEqual(commandIds.toSorted());
  expect(items).toContainEqual(
    expect.objectContaining({
      label: factsOf('app.palette').title,
      accelerator: 'CommandOrControl+K',
      registerAccelerator: false,
    }),
  );
});
