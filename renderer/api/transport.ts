import { type Bridge, bridgeChannel } from '../../core/contract/bridge.ts';
import type { Channel } from '../../core/contract/client.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';

const tokenKey = 'starpo-token';

/** How this window reaches core: through Electron's bridge where there is one, else through a WebSocket to the page's own host. */
export function chooseTransport(): () => Promise<Channel> {
  const bridge = (window as { starpo?: Bridge }).starpo;
  if (bridge) return () => Promise.resolve(bridgeChannel(bridge));
  // A new address may be opened in a tab that is there already, which then doesn't load anew.
  addEventListener('hashchange', takeToken);
  return () => openWebSocket(location.origin, takeToken());
}

/**
 * The token of `#token=...`, moved out of the address bar into the session; the rest of the hash stays, as in `#token=abc/run/x`.
 * Empty where none was ever given.
 */
export function takeToken(): string {
  const match = /^#token=([A-Za-z0-9_-]+)(\/.*)?$/.exec(location.hash);
  if (match?.[1]) {
    sessionStorage.setItem(tokenKey, match[1]);
    history.replaceState(null, '', `${location.pathname}${location.search}#${match[2] ?? '/start'}`);
  }
  return sessionStorage.getItem(tokenKey) ?? '';
}
