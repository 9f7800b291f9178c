import { parentPort, workerData } from 'node:worker_threads';
import { asFailure, Failure } from '../contract/failure.ts';
import { readJson } from '../models/model-config.ts';
import { Conversation } from './conversation.ts';
import { logProbabilities, Policy } from './policy.ts';
import type { PolicyAnswer, PolicyData, PolicyRequest } from './policy-thread.ts';
import { ChatTokenizer } from './tokenizer.ts';

/** The thread that a policy plays in: does what policy-thread.ts asks for, one thing after another. */

const port = parentPort!;
const say = (answer: PolicyAnswer) => port.postMessage(answer);

async function serve(): Promise<void> {
  const { folder } = workerData as PolicyData;
  const tokenizer = await ChatTokenizer.load(folder);
  const policy = await Policy.load(folder);
  const stopIds = await readStopIds(folder);
  let conversation = new Conversation(policy, tokenizer, stopIds);
  let abort: AbortController | null = null;
  let closing = false;

  const perform = async (request: Extract<PolicyRequest, { id: number }>): Promise<unknown> => {
    if (request.name === 'tokenize') return tokenizer.encode(request.text);
    if (request.name === 'score') {
      policy.forget();
      const logits = await policy.read(request.ids, 0);
      return logProbabilities(logits, request.ids, policy.config.vocab_size);
    }
    if (request.first) conversation = new Conversation(policy, tokenizer, stopIds);
    abort = new AbortController();
    const told = (text: string) => say({ id: request.id, text });
    return conversation.reply(request.message, request.rules, told, abort.signal);
  };
  let last: Promise<void> = Promise.resolve();
  port.on('message', (request: PolicyRequest) => {
    if (!('id' in request)) {
      abort?.abort(stopped());
      if (!('close' in request)) return;
      closing = true;
      last = last.then(() => policy.close()).finally(() => port.close());
      return;
    }
    last = last.then(async () => {
      if (closing) return;
      try {
        say({ id: request.id, value: await perform(request) });
      } catch (error) {
        say({ id: request.id, error: asFailure(error).toApiError() });
      }
    });
  });
  say({ id: 0, value: null });
}

/** Ids that end a reply beside `<|im_end|>`: of generation_config.json, else of config.json. */
async function readStopIds(folder: string): Promise<number[]> {
  for (const file of ['generation_config.json', 'config.json']) {
    const read = (await readJson(`${folder}/${file}`).catch(() => null)) as { eos_token_id?: unknown } | null;
    const ids = [read?.eos_token_id ?? []].flat();
    if (ids.length > 0) return ids.filter((id) => Number.isInteger(id)) as number[];
  }
  return [];
}

const stopped = () => new Failure('agent_stopped', 'The agent was stopped.', 'Start it again.');

serve().catch((error) => say({ id: 0, error: asFailure(error).toApiError() }));
