import type { MenuBar } from '../../core/contract/bridge.ts';
import { type CommandId, commandIds, factsOf } from '../../core/contract/commands.ts';
import type { Api } from '../api/api.ts';
import { navigate } from '../base/router.ts';
import type { Route } from '../base/routes.ts';
import { useTheme } from '../base/theme.ts';
import { findRun, useApp } from '../stores/app-store.ts';
import { useDialogs } from '../stores/dialogs-store.ts';
import { useKeyPreference } from '../stores/key-preference.ts';
import { readOnlyReason } from '../stores/write-access.ts';
import { type Actions, runActions } from './run-commands.ts';

/** Returns all actions available on the current page. */
export function actionsAt(api: Api, route: Route): Actions {
  const { openDialog } = useDialogs.getState();
  const runId = 'runId' in route ? route.runId : null;
  const run = findRun(useApp.getState(), runId);
  return {
    'go.start': () => navigate({ page: 'start' }),
    'go.queue': () => navigate({ page: 'queue' }),
    'go.history': () => navigate({ page: 'history', tab: 'runs' }),
    'go.studies': () => navigate({ page: 'studies' }),
    'go.compare': () => navigate({ page: 'compare', runIds: [] }),
    'go.play': () => navigate({ page: 'play' }),
    'go.models': () => navigate({ page: 'models' }),
    'go.environments': () => navigate({ page: 'environments' }),
    'go.system': () => navigate({ page: 'system' }),
    'go.settings': () => navigate({ page: 'settings' }),
    'go.new': () => navigate({ page: 'new', from: { preset: null } }),
    'go.episodes': () => navigate({ page: 'history', tab: 'episodes' }),
    'go.trash': () => navigate({ page: 'history', tab: 'trash' }),
    ...(run && runActions(api, run)),
    ...(route.page === 'start' && startAction()),
    ...(readOnlyReason() === null && { 'app.import': () => openDialog({ kind: 'import' }) }),
    'app.theme': () => useTheme.getState().toggle(),
    'app.palette': () => openDialog({ kind: 'palette' }),
    'app.keys': () => openDialog({ kind: 'keys' }),
  };
}

/** Returns an action that clicks the Start page's main button, if that is enabled. */
function startAction(): Actions {
  const button = document.querySelector<HTMLButtonElement>(
    'form[data-starts-run] [type="submit"]:enabled:not([aria-disabled])',
  );
  return button ? { 'run.start': () => button.click() } : {};
}

const isMac = () => /Mac|iPhone|iPad/.test(navigator.platform);

function commandOf(event: KeyboardEvent): CommandId | null {
  const mod = isMac() ? event.metaKey : event.ctrlKey;
  if (event.altKey || (isMac() ? event.ctrlKey : event.metaKey)) return null;
  return (
    commandIds.find((id) => {
      const keys = factsOf(id).keys;
      if (!keys) return false;
      const parts = keys.split('+');
      const key = parts.at(-1)!;
      if (parts.includes('Mod') !== mod) return false;
      // Symbols such as ? may need Shift, depending on the keyboard.
      if (/^[a-z0-9]|^Enter$/i.test(key) && parts.includes('Shift') !== event.shiftKey) return false;
      return event.key.toLowerCase() === key.toLowerCase();
    }) ?? null
  );
}

/** Returns the labels of keys: `Ctrl K`, on a Mac `⌘ K`. */
export function keyLabels(keys: string): string[] {
  return keys
    .split('+')
    .map((key) => (key === 'Mod' ? (isMac() ? '⌘' : 'Ctrl') : key === 'Shift' && isMac() ? '⇧' : key));
}

/** Handles shortcuts and the menu bar until the returned function is called. */
export function listenForCommands(api: Api, route: () => Route): () => void {
  const perform = (id: CommandId) => {
    const action = actionsAt(api, route())[id];
    action?.();
    return action !== undefined;
  };
  const onKey = (event: KeyboardEvent) => {
    const id = event.defaultPrevented || event.repeat ? null : commandOf(event);
    if (!id) return;
    const { dialog, closeDialog } = useDialogs.getState();
    // An open dialog blocks shortcuts; the palette's own shortcut closes it.
    if (dialog) {
      if (dialog.kind !== 'palette' || id !== 'app.palette') return;
      event.preventDefault();
      return closeDialog();
    }
    if (!factsOf(id).keys!.includes('Mod') && !singleKeyApplies(id, event, route())) return;
    // In a form, Mod+Enter submits the form.
    if (id === 'run.start' && isTextField(event.target)) return;
    if (perform(id)) event.preventDefault();
  };
  addEventListener('keydown', onKey);
  const stopMenu = (window as { starpo?: Partial<MenuBar> }).starpo?.onCommand?.((id) => {
    if ((commandIds as string[]).includes(id)) perform(id as CommandId);
  });
  return () => {
    removeEventListener('keydown', onKey);
    stopMenu?.();
  };
}

/** Returns whether a shortcut without Mod applies: not in text fields and menus; those of the Run menu only on the run page; on the Play page only those of the App menu. */
function singleKeyApplies(id: CommandId, event: KeyboardEvent, { page }: Route): boolean {
  if (!useKeyPreference.getState().singleKeys || isTextField(event.target)) return false;
  if (event.target instanceof Element && event.target.closest('[role="menu"], [role="listbox"]')) return false;
  const { menu } = factsOf(id);
  // On the Play page, letters control the game.
  return menu === 'Run' ? page === 'run' : menu === 'App' || page !== 'play';
}

const isTextField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
