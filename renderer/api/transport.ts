import { type Bridge, bridgeChannel } from '../../core/contract/bridge.ts';
import type { Channel } from '../../core/contract/client.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { ClientKey } from '../../core/contract/handshake.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';

/** Where the sign-in code lies for the other tabs of this browser; it is worth nothing once the process that printed it has ended. */
const codeKey = 'starpo-sign-in';

/** What files are asked for with, beside the channel; a page that is served by Electron has none. */
export const signInCode = () => localStorage.getItem(codeKey) ?? '';

/** How this window reaches core: through Electron's bridge where there is one, else through a WebSocket to the page's own host. */
export function chooseTransport(): () => Promise<Channel> {
  const bridge = (window as { starpo?: Bridge }).starpo;
  if (bridge) return () => Promise.resolve(bridgeChannel(bridge));
  // A new address may be opened in a tab that is there already, which then doesn't load anew.
  addEventListener('hashchange', takeCode);
  takeCode();
  return signedInChannel();
}

/**
 * Opens channels for a page, which signs in at first and keeps the key that it gets in memory alone. With it, it also finds a later process on the same port,
 * and tells it from whoever else may be there.
 */
function signedInChannel(): () => Promise<Channel> {
  let key: ClientKey | null = null;
  /** The code of the process that the key is known to belong to. */
  let known: string | null = null;
  return async () => {
    if (!key) {
      known = localStorage.getItem(codeKey);
      key = await signIn(known);
    }
    try {
      const channel = await openWebSocket(location.origin, key);
      known = channel.code;
      localStorage.setItem(codeKey, known);
      return channel;
    } catch (error) {
      // Another tab, or the person, has brought the code of another data folder's process, which is signed in to anew.
      const untrusted = error instanceof Failure && error.code === 'host_untrusted';
      if (untrusted && localStorage.getItem(codeKey) !== known) key = null;
      throw error;
    }
  };
}

/** Throws `not_signed_in` where the code is none of the process that answers, `connection_refused` where none does. */
async function signIn(code: string | null): Promise<ClientKey> {
  if (!code) throw notSignedIn();
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch('/api/sign-in', { method: 'POST', headers, body: JSON.stringify({ code }) });
  if (response.status === 401) throw notSignedIn();
  if (!response.ok) throw new Failure('connection_refused', 'StarPO Studio doesn’t answer.', 'Try again.');
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
export function takeCode(): void {
  const match = /^#sign-in=([0-9a-f]+)(\/.*)?$/.exec(location.hash);
  if (!match?.[1]) return;
  localStorage.setItem(codeKey, match[1]);
  history.replaceState(null, '', `${location.pathname}${location.search}#${match[2] ?? '/start'}`);
}

/** Goes to an address that a person pasted, of this host or another. Gives whether it is one. */
export function openAddress(text: string): boolean {
  const address = URL.parse(text.trim());
  if (address?.protocol !== 'http:' || !address.hash.startsWith('#sign-in=')) return false;
  const here = address.origin === location.origin;
  location.assign(address);
  // Only the fragment differs: nothing loads by itself.
  if (here) location.reload();
  return true;
}
