import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { isSafeAddress } from './hub-settings.ts';

/** A hub with the Hugging Face API, and the user's token. */
export interface Hub {
  host: string;
  token: string | null;
}

/** A file of a revision. `digest`: SHA-256 for LFS files, git SHA-1 for others. */
export interface HubFile {
  name: string;
  size: number;
  digest: { kind: 'sha256' | 'git'; hex: string };
}

/** Files and metadata of a revision. */
export interface HubRevision {
  repository: string;
  revision: string;
  license: string | null;
  licenseLink: string | null;
  modelType: string | null;
  parameters: number | null;
  /** Files that a model folder needs. */
  files: HubFile[];
}

const maxRedirects = 5;
/** Time in ms until the headers of a response must arrive. */
const responseTimeout = 30_000;
const maxResponseLength = 16 << 20;

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`));
const revisionSchema = z.looseObject({
  sha: hex(40),
  siblings: z
    .array(
      z.looseObject({
        rfilename: z.string(),
        size: z.int().nonnegative(),
        blobId: hex(40).optional(),
        lfs: z.looseObject({ sha256: hex(64), size: z.int().nonnegative() }).nullish(),
      }),
    )
    .max(10_000),
  cardData: z
    .looseObject({
      license: z.union([z.string(), z.array(z.string())]).optional(),
      license_name: z.string().optional(),
      license_link: z.string().optional(),
    })
    .nullish()
    .catch(null),
  config: z.looseObject({ model_type: z.string().optional() }).nullish().catch(null),
  safetensors: z.looseObject({ total: z.number() }).nullish().catch(null),
});

/** Files of a model folder (docs/formats/model-folder.md) and documents. Names contain no folders, so files stay inside. */
const modelFile =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|model\.safetensors\.index)\.json$|^merges\.txt$|^chat_template\.jinja$|^model(-\d{1,5}-of-\d{1,5})?\.safetensors$|^(LICENSE|README)(\.md|\.txt)?$/;

/** Fetches the latest revision of a repository. Throws as {@link request} does, or `hub_answer_invalid`. */
export async function readRevision(hub: Hub, repository: string): Promise<HubRevision> {
  const response = await request(hub, `/api/models/${repository}?blobs=true`);
  const read = revisionSchema.safeParse(await json(response));
  if (!read.success)
    throw new Failure(
      'hub_answer_invalid',
      `Unexpected response from ${hub.host} for ${repository}.`,
      'Check the address under “Hub address and token” on the Models page, or HF_ENDPOINT.',
    );
  const { sha, siblings, cardData, config, safetensors } = read.data;
  const files = siblings
    .filter(({ rfilename }) => modelFile.test(rfilename))
    .flatMap(({ rfilename: name, size, blobId, lfs }): HubFile[] => {
      if (lfs) return [{ name, size: lfs.size, digest: { kind: 'sha256', hex: lfs.sha256 } }];
      return blobId ? [{ name, size, digest: { kind: 'git', hex: blobId } }] : [];
    });
  const license = cardData?.license_name ?? [cardData?.license ?? []].flat()[0] ?? null;
  const link = cardData?.license_link ?? null;
  return {
    repository,
    revision: sha,
    license,
    licenseLink: link && URL.canParse(link) && link.startsWith('https://') ? link : null,
    modelType: config?.model_type ?? null,
    parameters: safetensors?.total ?? null,
    files,
  };
}

async function json(response: Response): Promise<unknown> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxResponseLength) return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Sends a request to a hub and follows redirects to https or local addresses. Sends the token only to the hub. Throws `hub_unreachable`,
 * `hub_not_found`, `hub_unauthorized`, `hub_token_invalid`, `hub_busy` (with `retryAfter` in ms if given) or `hub_refused`.
 */
export async function request(
  { host, token }: Hub,
  path: string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  // The error of fetch would contain the token.
  if (token !== null && !/^[!-~]+$/.test(token))
    throw new Failure(
      'hub_token_invalid',
      'The access token contains spaces, line breaks or characters outside ASCII.',
      'Set it again under “Hub address and token” on the Models page, or correct HF_TOKEN.',
    );
  const own = new URL(host).origin;
  let address = new URL(host + path);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const authorization: Record<string, string> =
      token !== null && address.origin === own ? { authorization: `Bearer ${token}` } : {};
    const response = await send(address, { ...headers, ...authorization, 'accept-encoding': 'identity' }, signal);
    const next = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || next === null) return checked(response, host);
    await response.body?.cancel();
    const target = URL.parse(next, address.href);
    if (!target || !isSafeAddress(target) || (target.protocol === 'http:' && address.protocol === 'https:'))
      throw refused(`${host} redirects to an insecure address.`);
    address = target;
  }
  throw refused(`${host} redirects too many times.`);
}

async function send(address: URL, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<Response> {
  const abort = new AbortController();
  signal?.addEventListener('abort', () => abort.abort(), { once: true });
  // The body has its own timeout.
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    abort.abort();
  }, responseTimeout);
  try {
    signal?.throwIfAborted();
    return await fetch(address.href, { headers, redirect: 'manual', signal: abort.signal });
  } catch (error) {
    signal?.throwIfAborted();
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    throw new Failure(
      'hub_unreachable',
      `Can't reach ${address.host}: ${timedOut ? 'no response within 30 s' : reasonOf(cause?.code, cause?.message ?? String(error))}.`,
      'Check the connection and the address of the hub on the Models page, then try again. Downloaded files are kept.',
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Descriptions of system error codes. */
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name was not found',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was interrupted',
  UND_ERR_SOCKET: 'the connection was interrupted',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
};
const reasonOf = (code: string | undefined, message: string) => (code && reasons[code]) ?? code ?? message;

async function checked(response: Response, host: string): Promise<Response> {
  const { status } = response;
  if (response.ok) return response;
  await response.body?.cancel();
  if (status === 401 || status === 403)
    throw new Failure(
      'hub_unauthorized',
      `${host} requires permission for this download.`,
      "Accept the terms on the model's page on the hub, then set your access token under “Hub address and token” on the Models page. A wrong token or a model that does not exist causes the same error.",
    );
  if (status === 404)
    throw new Failure(
      'hub_not_found',
      `The model or file was not found on ${host}.`,
      'Check the name of the model: OWNER/NAME.',
    );
  if (status === 429 || status >= 500) throw new HubBusy(host, status, response.headers.get('retry-after'));
  throw refused(`${host} responded with status ${status}.`);
}

/** A temporary failure. */
export class HubBusy extends Failure {
  /** In ms; null if not given. */
  readonly retryAfter: number | null;

  constructor(host: string, status: number, retryAfter: string | null) {
    super('hub_busy', `${host} is busy (status ${status}).`, 'Try again later. Downloaded files are kept.');
    const seconds = Number(retryAfter ?? Number.NaN);
    this.retryAfter = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
  }
}

const refused = (message: string) =>
  new Failure(
    'hub_refused',
    message,
    'Check the address under “Hub address and token” on the Models page, or HF_ENDPOINT.',
  );
