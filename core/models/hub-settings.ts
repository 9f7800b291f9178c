import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { HubSettings } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

/** Storage for a secret: the system's keychain, or a file only its owner can read. */
export interface SecretStore {
  /** Returns null if there is none. */
  read(): string | null;
  /** Null deletes it. */
  write(secret: string | null): void;
}

const defaultHost = 'https://huggingface.co';
const fileSchema = z.object({ version: z.literal(1), host: z.string() });

/** The hub for models, and the user's token. */
export class HubSettingsStore {
  private readonly path: string;
  private readonly secrets: SecretStore;
  private readonly environment: NodeJS.ProcessEnv;

  constructor(home: string, secrets?: SecretStore, environment: NodeJS.ProcessEnv = process.env) {
    this.path = join(home, 'hub.json');
    this.secrets = secrets ?? secretFile(join(home, 'hub-token'));
    this.environment = environment;
  }

  /** Without a trailing slash. */
  get host(): string {
    const { HF_ENDPOINT } = this.environment;
    return readJsonFile(fileSchema, this.path)?.host ?? (HF_ENDPOINT ? checkedHost(HF_ENDPOINT) : defaultHost);
  }

  /** Returns the user's token, otherwise HF_TOKEN. */
  get token(): string | null {
    return this.secrets.read() ?? (this.environment.HF_TOKEN || null);
  }

  /** Settings without secrets. */
  get settings(): HubSettings {
    return { host: this.host, hasToken: this.token !== null };
  }

  /** Throws `hub_host_invalid`. */
  set({ host, token }: { host?: string | undefined; token?: string | undefined }): HubSettings {
    if (host === '') rmSync(this.path, { force: true });
    else if (host !== undefined) writeWhole(this.path, { version: 1, host: checkedHost(host) });
    if (token !== undefined) this.secrets.write(token.trim() === '' ? null : token.trim());
    return this.settings;
  }
}

/** A file that only its owner can read. */
const secretFile = (path: string): SecretStore => ({
  read() {
    try {
      return readFileSync(path, 'utf8').trim() || null;
    } catch {
      return null;
    }
  },
  write(secret) {
    rmSync(path, { force: true });
    if (secret === null) return;
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(path, 0o600);
  },
});

/** Returns whether an address is allowed: https, or on this machine. */
export const isSafeAddress = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));

function checkedHost(text: string): string {
  const address = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (address && isSafeAddress(address) && address.username === '' && address.search === '')
    return address.href.replace(/\/+$/, '');
  throw new Failure(
    'hub_host_invalid',
    `${JSON.stringify(text)} is not a valid hub address.`,
    'Use an https address, such as https://huggingface.co, on the Models page or in HF_ENDPOINT.',
  );
}
