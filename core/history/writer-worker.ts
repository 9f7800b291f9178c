import { parentPort, workerData } from 'node:worker_threads';
import { createWriter, type HistoryWriter } from './writer.ts';
import type { PortableError, WriterAnswer, WriterData, WriterRequest } from './writer-thread.ts';

/** The thread that writes the history of a data folder: does what writer-thread.ts asks for. */

const port = parentPort!;
const aborts = new Map<number, AbortController>();

const say = (answer: WriterAnswer) => port.postMessage(answer);

function serve(): void {
  const { home, calibration } = workerData as WriterData;
  const writer = createWriter(home, calibration);
  port.on('message', (request: WriterRequest) => {
    if ('abort' in request) aborts.get(request.abort)?.abort();
    else void answer(writer, request);
  });
  say({ id: 0, value: null });
}

async function answer(
  writer: HistoryWriter,
  { id, name, runId, iteration }: Exclude<WriterRequest, { abort: number }>,
): Promise<void> {
  try {
    say({ id, value: await (name === 'rebuild' ? rebuild(writer, id) : writer[name](runId, iteration)) });
  } catch (error) {
    say({ id, error: portable(error) });
  }
  if (name === 'close') port.close();
}

async function rebuild(writer: HistoryWriter, id: number) {
  const abort = new AbortController();
  aborts.set(id, abort);
  const progress = (done: number, total: number) => say({ id, progress: { done, total } });
  try {
    return await writer.rebuild({ progress, signal: abort.signal });
  } finally {
    aborts.delete(id);
  }
}

function portable(error: unknown): PortableError {
  const { name, message, code, hint, syscall, stack } = error as Error & Record<string, string | undefined>;
  return { name, message, code, hint, syscall, stack };
}

try {
  serve();
} catch (error) {
  say({ id: 0, error: portable(error) });
}
