import { useMemo, useSyncExternalStore } from 'react';
import type { LinkOpener } from '../../core/contract/bridge.ts';
import { formatRoute, parseRoute, type Route } from './routes.ts';

/** Opens a page. `replace`: replaces the history entry, for navigation without a click. */
export function navigate(route: Route, replace = false): void {
  const hash = formatRoute(route);
  if (location.hash === hash) return;
  if (replace) {
    history.replaceState(null, '', hash);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = hash;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

/** Follows links that open the desktop app, until the returned function is called. */
export function followLinks(): () => void {
  const desktop = (window as { starpo?: Partial<LinkOpener> }).starpo;
  return desktop?.onOpenPage?.((page) => navigate(parseRoute(page))) ?? (() => {});
}
