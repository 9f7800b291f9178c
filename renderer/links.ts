import type { Guide } from '../core/contract/bridge.ts';
import { navigate, parseRoute } from './router.ts';

/** Goes where links into the desktop app lead, until the returned function is called; a browser has an address bar for that. */
export function followLinks(): () => void {
  const guide = (window as { starpo?: Partial<Guide> }).starpo;
  return guide?.onGo?.((page) => navigate(parseRoute(page))) ?? (() => {});
}
