import { type Bridge, bridgeChannel } from '../../core/contract/bridge.ts';
import type { Channel } from '../../core/contract/client.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { ClientKey } from '../../core/contract/handshake.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';

/** Local storage key of the sign-in code, shared with other tabs. The code expires with the server process. */
const codeKey = 'starpo-sign-in';

/** Returns the code that authorizes file requests; empty in Electron. */
export const signInCode = () => localStorage.getItem(codeKey) ?? '';

/** Connects through Electron's bridge if available, else through a WebSocket to the page's host. */
export function chooseTransport(): () => Promise<Channel> {
  const bridge = (window as { starpo?: Bridge }).starpo;
  if (bridge) return () => Promise.resolve(bridgeChannel(bridge));
  // A new address opened in an existing tab doesn't reload the page.
  addEventListener('hashchange', storeCode);
  storeCode();
  return signedInChannel();
}

/**
 * Opens channels for a page. The page signs in once and keeps its key in memory only. With the key, the page also
 * recognizes a later server process on the same port and rejects any other program there.
 */
function signedInChannel(): () => Promise<Channel> {
  let key: ClientKey | null = null;
  /** The code of the server process that issued the key. */
  let keyCode: string | null = null;
  return async () => {
    if (!key) {
      keyCode = localStorage.getItem(codeKey);
      key = await signIn(keyCode);
    }
    try {
      const channel = await openWebSocket(location.origin, key);
      keyCode = channel.code;
      localStorage.setItem(codeKey, keyCode);
      return channel;
    } catch (error) {
      // The code has changed to that of another data folder's server: sign in again.
      const untrusted = error instanceof Failure && error.code === 'host_untrusted';
      if (untrusted && localStorage.getItem(codeKey) !== keyCode) key = null;
      throw error;
    }
  };
}

/** Throws `not_signed_in` if the server rejects the code, `connection_refused` if it doesn't respond properly. */
async function signIn(code: string | null): Promise<ClientKey> {
  if (!code) throw notSignedIn();
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch('/api/sign-in', { method: 'POST', headers, body: JSON.stringify({ code }) });
  if (response.status === 401) throw notSignedIn();
  if (!response.ok)
    throw new Failure(
      'connection_refused',
      `The server rejected the sign-in with status ${response.status}.`,
      'Try again.',
    );
  const { id, key } = (await response.json()) as ClientKey;
  return { id, key };
}

const notSignedIn = () =>
  new Failure(
    'not_signed_in',
    "This tab isn't signed in.",
    'Paste the address that `starpo serve` printed in your terminal.',
  );

/** Moves the code of `#sign-in=...` out of the address bar; the rest of the hash stays, as in `#sign-in=abc/run/x`. */
export function storeCode(): void {
  const match = /^#sign-in=([0-9a-f]+)(\/.*)?$/.exec(location.hash);
  if (!match?.[1]) return;
  localStorage.setItem(codeKey, match[1]);
  history.replaceState(null, '', `${location.pathname}${location.search}#${match[2] ?? '/start'}`);
}

/** Opens a pasted sign-in address. Returns whether it is valid. */
export function openAddress(text: string): boolean {
  const address = URL.parse(text.trim());
  if (address?.protocol !== 'http:' || !address.hash.startsWith('#sign-in=')) return false;
  const here = address.origin === location.origin;
  location.assign(address);
  // Only the fragment differs, so the page needs a reload.
  if (here) location.reload();
  return true;
}
