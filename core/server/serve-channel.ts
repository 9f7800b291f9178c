import { createBirpc } from 'birpc';
import { z } from 'zod';
import { pasteable } from '../base/pasteable.ts';
import { withTaskId } from '../base/tasks.ts';
import { type ClosableChannel, messageLimit } from '../contract/channel.ts';
import type { ClientFunctions, ServerFunctions } from '../contract/client.ts';
import {
  type CallResult,
  type Handlers,
  type Output,
  type ProcedureName,
  procedures,
  sampleRunId,
} from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { fieldsOf, issueInWords } from '../contract/issue-words.ts';
import type { Core } from '../index.ts';
import { createHandlers } from './handlers.ts';
import { Session } from './session.ts';

/** A birpc request, the only kind of message accepted from a client. */
const request = z.object({
  t: z.literal('q'),
  i: z.string().max(64),
  m: z.literal('call'),
  a: z.array(z.unknown()).max(3),
});

export interface ServedChannel {
  /** Resolves when every call received so far is answered. */
  idle(): Promise<void>;
}

/**
 * Serves the API over one channel until it closes: answers calls, and passes on the notices that the client subscribed to. Rejects or ignores invalid
 * messages; a message above {@link messageLimit} closes the channel. No message makes it throw.
 */
export function serveChannel(core: Core, channel: ClosableChannel): ServedChannel {
  let posted = 0;
  const session = new Session({
    send: (name, payload) => {
      const before = posted;
      client.notice.asEvent(name, payload).catch(() => {});
      return posted - before;
    },
    close: () => channel.close(),
  });
  const handlers = createHandlers(core, session);
  const open = new Set<Promise<unknown>>();
  const functions: ServerFunctions = {
    call: (name, input, taskId) => {
      const perform = () => answer(core, handlers, name, input);
      const isId = z.uuid().safeParse(taskId).success;
      const answered = (isId ? withTaskId(taskId!, perform) : perform()).finally(() => open.delete(answered));
      open.add(answered);
      return answered;
    },
  };
  const client = createBirpc<ClientFunctions, ServerFunctions>(functions, {
    post: (text: string) => {
      posted += text.length;
      channel.send(text);
    },
    on: (handler) =>
      channel.onMessage((text) => {
        if (text.length > messageLimit) return channel.close();
        const message = readRequest(text);
        if (message) handler(message);
      }),
    serialize: (message) => JSON.stringify(message),
    onGeneralError: () => true,
  });
  const stop = core.notices.on(
    (name, payload) => session.deliver(name, payload),
    (name, runId) => session.accepts(name, runId),
  );
  channel.onClose(() => {
    stop();
    session.close();
    void core.games.disconnect(session);
    core.ownEnvironments.games.disconnect(session);
    client.$close();
  });
  return {
    idle: async () => {
      await Promise.all(open);
      // birpc sends an answer a few microtasks after its call settles.
      await new Promise((sent) => setImmediate(sent));
    },
  };
}

function readRequest(text: string): z.infer<typeof request> | null {
  try {
    return request.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

async function answer(
  core: Core,
  handlers: Handlers,
  name: unknown,
  input: unknown,
): Promise<CallResult<ProcedureName>> {
  try {
    return { ok: true, value: await perform(core, handlers, name, input) };
  } catch (error) {
    const failure = asFailure(error);
    // Requests during shutdown fail; don't log them as errors.
    if (failure.code === 'internal' && core.database.open)
      core.log(`${String(name)}: ${error instanceof Error ? error.stack : String(error)}`);
    const { message, hint, ...rest } = failure.toApiError();
    return { ok: false, error: { ...rest, message: pasteable(message), hint: pasteable(hint) } };
  }
}

async function perform(core: Core, handlers: Handlers, name: unknown, input: unknown): Promise<Output<ProcedureName>> {
  if (typeof name !== 'string' || !Object.hasOwn(procedures, name)) {
    const names = Object.keys(procedures).join(', ');
    throw new Failure('procedure_unknown', `Unknown procedure ${JSON.stringify(name)}.`, `Procedures: ${names}.`);
  }
  const procedure = procedures[name as ProcedureName];
  if ('changes' in procedure && core.history.readOnly) throw core.history.readOnly;
  const parsed = procedure.input.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    const fields = fieldsOf(procedure.input);
    const path = issue.path.map(String).join('.') || 'the input';
    throw new Failure(
      'input_invalid',
      `${name}: ${path} ${issueInWords(issue)}.`,
      fields.length === 0 ? 'Expected an empty object.' : `Expected fields: ${fields.join(', ')}.`,
    );
  }
  const runId = 'runId' in parsed.data ? parsed.data.runId : undefined;
  const reader = runId === sampleRunId ? await readerOfSample(core, procedure) : { core, handlers };
  if (runId) await reader.core.supervisor.find(runId);
  const handler = reader.handlers[name as ProcedureName] as (input: unknown) => unknown;
  const { output } = procedure;
  const value = await handler(parsed.data);
  return output.parse(value === undefined ? {} : value);
}

/** Returns the reader of the sample run, which has its own core and is read-only. */
async function readerOfSample(core: Core, procedure: object): Promise<{ core: Core; handlers: Handlers }> {
  if ('changes' in procedure || 'ownRuns' in procedure)
    throw new Failure('sample_read_only', 'The sample run is read-only.', 'Start your own run from its preset.');
  const own = await core.sample.core();
  return { core: own, handlers: createHandlers(own) };
}
