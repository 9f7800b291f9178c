/**
 * The handshake of a client and core: each proves, by an HMAC over both nonces, that it knows a key, and core goes first. The data on the wire is
 * useless to an eavesdropper or to a program that took over the port. See docs/decisions/0031.
 */

/** What a client proves to know: `key` belongs to `id` and to the port of the process that gave it. */
export interface ClientKey {
  /** 32 hexadecimal digits; no secret. */
  id: string;
  /** 64 hexadecimal digits. */
  key: string;
}

/** core's first message. */
export interface Challenge {
  nonce: string;
  proof: string;
}

/** core's second message, after the client's proof. */
export interface Welcome {
  /** Signs a page in as long as this process lives. */
  code: string;
}

export const idPattern = /^[0-9a-f]{32}$/;

/** 128 random bits, in hex: an id, a nonce or a sign-in code. */
export function randomHex(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

/** The key of a client that has an id, of core's port; `token`: the data folder's. */
export const keyOf = (token: string, id: string, port: string) => hmac(token, `client ${id} of port ${port}`);

/** A key for a program that may read the data folder's token. `origin`: where core should be. */
export async function keyFromToken(token: string, origin: string): Promise<ClientKey> {
  const id = randomHex();
  // An address leaves out the port that its protocol has anyway.
  return { id, key: await keyOf(token, id, new URL(origin).port || '80') };
}

/** What shows that `side` knows a key. `nonces`: the client's, then core's. */
export const proofOf = (key: string, side: 'core' | 'client', nonces: readonly [string, string]) =>
  hmac(key, `${side} ${nonces.join(' ')}`);

/** How long a link may be followed, in ms. */
export const linkLifetime = 60_000;

/** A link with which a browser downloads a file without sending a header; `until`: ms since the epoch. */
export async function linkTo(code: string, path: string, until = Date.now() + linkLifetime): Promise<string> {
  return `${path}?${new URLSearchParams({ until: String(until), proof: await linkProof(code, path, until) })}`;
}

/** The proof that the owner of the code made a link. */
export const linkProof = (code: string, path: string, until: number) =>
  hmac(code, `link ${path} until ${until}`);

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
