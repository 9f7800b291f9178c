/**
 * The handshake between client and server: each proves by an HMAC over both nonces that it knows a key, the server first. The data on the wire is
 * useless to an eavesdropper or to a program that took over the port. See docs/decisions/0031.
 */

/** A client's key. It is bound to `id` and to the port of the server that issued it. */
export interface ClientKey {
  /** 32 hexadecimal digits; not secret. */
  id: string;
  /** 64 hexadecimal digits. */
  key: string;
}

/** The server's first message. */
export interface Challenge {
  nonce: string;
  proof: string;
}

/** The server's second message, after the client's proof. */
export interface Welcome {
  /** Sign-in code for pages, valid until the server process exits. */
  code: string;
}

export const idPattern = /^[0-9a-f]{32}$/;

/** Returns 128 random bits in hex, for an id, a nonce or a sign-in code. */
export function randomHex(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

/** Derives the key for a client id and the server's port from the data folder's token. */
export const keyOf = (token: string, id: string, port: string) => hmac(token, `client ${id} of port ${port}`);

/** Creates a key for a program that can read the data folder's token. `origin` is the expected address of the server. */
export async function keyFromToken(token: string, origin: string): Promise<ClientKey> {
  const id = randomHex();
  // URL omits the protocol's default port.
  return { id, key: await keyOf(token, id, new URL(origin).port || '80') };
}

/** Returns the proof that `side` knows a key. `nonces` are the client's, then the server's. */
export const proofOf = (key: string, side: 'core' | 'client', nonces: readonly [string, string]) =>
  hmac(key, `${side} ${nonces.join(' ')}`);

/** Lifetime of a link in ms. */
export const linkLifetime = 60_000;

/** Creates a link that lets a browser download a file without an authorization header. `until` is in ms since the epoch. */
export async function linkTo(code: string, path: string, until = Date.now() + linkLifetime): Promise<string> {
  return `${path}?${new URLSearchParams({ until: String(until), proof: await linkProof(code, path, until) })}`;
}

/** Returns the proof that a link was made with the code. */
export const linkProof = (code: string, path: string, until: number) => hmac(code, `link ${path} until ${until}`);

/** Creates a sign-in code that is valid once, for a minute. It is an argument of the program that opens the browser, so other users can read it. */
export async function oneTimeCode(code: string, until = Date.now() + linkLifetime): Promise<string> {
  return until.toString(16).padStart(untilDigits, '0') + (await hmac(code, `sign in until ${until}`));
}

/** Returns the end of a one-time code's validity in ms since the epoch, or null if it was not made with the code. */
export async function endOfOneTimeCode(given: string, code: string): Promise<number | null> {
  const until = Number.parseInt(given.slice(0, untilDigits), 16);
  return isSame(given, await oneTimeCode(code, until)) ? until : null;
}

const untilDigits = 12;

/** Compares in constant time. */
export function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index++)
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index % Math.max(1, right.length));
  return difference === 0;
}

async function hmac(key: string, text: string): Promise<string> {
  const bytes = (value: string) => new TextEncoder().encode(value);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const secret = await crypto.subtle.importKey('raw', bytes(key), algorithm, false, ['sign']);
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', secret, bytes(text))));
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
