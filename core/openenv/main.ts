import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { problemIn } from '../contract/issue-words.ts';
import { Actions } from './actions.ts';
import { Adapter, type ResetRequest } from './adapter.ts';
import { HttpSession, request } from './http-session.ts';
import { type Manifest, manifest } from './manifest.ts';
import { becomeOnlyClient } from './only-client.ts';
import { ServerError } from './session.ts';
import { SocketSession } from './socket-session.ts';

/** `starpo-openenv ADDRESS [--manifest FILE] [--http]`: plays the episodes of an OpenEnv server for the trainer (docs/formats/openenv.md). */

const usage = 'usage: starpo-openenv http://HOST:PORT [--manifest FILE] [--http]';

type Message = { id: number; hello?: unknown; reset?: ResetRequest; step?: string; close?: true };

async function main(): Promise<void> {
  const options = { manifest: { type: 'string' }, http: { type: 'boolean', default: false } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [address, ...others] = positionals;
  if (!address || others.length > 0 || !/^(https?|wss?):\/\/[^/]/.test(address)) throw new Error(usage);
  const settings = readManifest(values.manifest);
  const web = address.replace(/^ws/, 'http').replace(/\/+$/, '');
  const socket = `${web.replace(/^http/, 'ws')}/ws`;

  if (values.http)
    await becomeOnlyClient(web, () => {
      process.stderr.write(
        `waiting for another process that plays ${web}, because HTTP allows only one client; set processes to 1\n`,
      );
    });
  const actions = new Actions(settings.schema ?? (await readSchema(web, settings)));
  const open = values.http
    ? async () => new HttpSession(web, settings.answer_seconds)
    : () => SocketSession.open(socket, settings);
  const adapter = new Adapter(open, settings, actions);

  const print = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const hello = {
    ...{ version: 1, name: settings.name ?? address, episodes: values.http ? 1 : settings.connections },
    ...(actions.names && { actions: actions.names }),
  };
  const answer = async ({ id, hello: greeting, reset, step }: Message) => {
    if (greeting) return print({ hello });
    if (!reset && step === undefined) return adapter.close(id);
    try {
      print({ id, ...(reset ? await adapter.reset(id, reset) : await adapter.step(id, step!)) });
    } catch (error) {
      adapter.close(id);
      print({ id, error: `${error instanceof ServerError ? `${error.code}: ` : ''}${(error as Error).message}` });
    }
  };
  createInterface({ input: process.stdin })
    .on('line', (line) => void answer(JSON.parse(line) as Message))
    .on('close', () => void adapter.end().then(() => process.exit()));
}

/** Throws if the file is missing or invalid. */
function readManifest(file: string | undefined): Manifest {
  if (file === undefined) return manifest.parse({});
  const value = JSON.parse(readFileSync(file, 'utf8'));
  const read = manifest.safeParse(value);
  if (read.success) return read.data;
  throw new Error(`the manifest ${file} is invalid: ${problemIn(value, read.error)}`);
}

async function readSchema(address: string, settings: Manifest): Promise<Record<string, unknown>> {
  const start = Date.now();
  for (;;) {
    try {
      const schema = await request(`${address}/schema`, settings.connect_seconds);
      return z.object({ action: z.record(z.string(), z.unknown()) }).parse(schema).action;
    } catch (error) {
      const { code, message } = error as ServerError;
      if (code === 'http_404') throw new Error(`${message}; give its JSON Schema of actions as schema in a manifest`);
      if (code !== 'unreachable' || Date.now() - start >= settings.connect_seconds * 1000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
