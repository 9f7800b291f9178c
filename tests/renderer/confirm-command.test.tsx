import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, test } from 'vitest';
import { confirmingCommands } from '../../core/contract/confirm-command.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { Api } from '../../renderer/api/api.ts';
import { ConfirmCommand } from '../../renderer/dialogs/confirm-command.tsx';
import { askInDialog } from '../../renderer/stores/consent-store.ts';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const own = { command: 'python3 \u202Emaze.py', directory: '/work' };
let confirmed: unknown[] = [];
const client = {
  call: async (name: string, input: unknown) => {
    if (name === 'commands.confirm') confirmed.push(input);
    else if (confirmed.length === 0)
      throw new Failure('command_not_confirmed', 'It was not confirmed.', 'Confirm it.', own);
    return {};
  },
} as unknown as Api;
const api = confirmingCommands(client, askInDialog);

const host = document.createElement('div');
document.body.append(host);
const root = createRoot(host);
afterEach(() => {
  confirmed = [];
});

async function start(answer: string): Promise<string> {
  await act(async () => root.render(<ConfirmCommand />));
  let outcome = 'none';
  await act(async () => {
    void api.call('runs.start', { runId: 'a' }).then(
      () => (outcome = 'started'),
      (cause) => (outcome = cause.code),
    );
  });
  const dialog = document.querySelector('[role=dialog]')!;
  expect(dialog.textContent).toContain('python3 \\u{202e}maze.py');
  expect(dialog.textContent).toContain('/work');
  const button = [...dialog.querySelectorAll('button')].find(({ textContent }) => textContent === answer)!;
  await act(async () => button.click());
  expect(document.querySelector('[role=dialog]')).toBeNull();
  return outcome;
}

test('a command is shown before it runs for the first time; Cancel runs nothing', async () => {
  expect(await start('Cancel')).toBe('command_not_confirmed');
  expect(confirmed).toEqual([]);
});

test('a confirmed command is stored and the request repeated', async () => {
  expect(await start('Run command')).toBe('started');
  expect(confirmed).toEqual([own]);
});
