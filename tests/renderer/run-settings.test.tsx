import { createRoot } from 'react-dom/client';
import { afterEach, expect, test } from 'vitest';
import { Failure } from '../../core/contract/failure.ts';
import type { Api } from '../../renderer/api/api.ts';
import { ApiContext } from '../../renderer/api/context.ts';
import { type SettingsByRun, useSettings } from '../../renderer/run-table/settings.ts';
import { useApp } from '../../renderer/stores/app-store.ts';
import { runOf } from './summaries.ts';

const host = document.body.appendChild(document.createElement('div'));
const root = createRoot(host);
afterEach(() => {
  root.render(null);
  useApp.setState(useApp.getInitialState());
});

/** Lists runs with these ids. */
const list = (...ids: string[]) => useApp.setState({ connection: 'open', runs: ids.map((id) => runOf({ id })) });

test('the settings of runs are requested once, and again after a lost connection', async () => {
  const requests: string[][] = [];
  let isLost = false;
  const call = async (_: string, { runIds }: { runIds: string[] }) => {
    requests.push(runIds);
    if (isLost) throw new Failure('connection_lost', 'The connection was lost.', '');
    return { runIds, settings: [{ path: 'seed', values: runIds.map((_each, index) => index) }] };
  };
  let found: SettingsByRun | null = null;
  function Probe() {
    found = useSettings();
    return null;
  }
  root.render(
    <ApiContext value={{ call } as unknown as Api}>
      <Probe />
    </ApiContext>,
  );
  const known = () => found && [...found.keys()];

  list();
  await expect.poll(known).toEqual([]);
  list('a', 'b');
  await expect.poll(known).toEqual(['a', 'b']);
  list('c', 'b');
  await expect.poll(known).toEqual(['c', 'b']);
  expect(requests).toEqual([['a', 'b'], ['c']]);

  list('c');
  await expect.poll(known).toEqual(['c']);
  list('c', 'b');
  await expect.poll(() => requests.length).toBe(3);

  isLost = true;
  list('d', 'b');
  await expect.poll(() => requests.length).toBe(4);
  useApp.setState({ connection: 'lost' });
  isLost = false;
  await expect.poll(known).toEqual(['b']);
  useApp.setState({ connection: 'open' });
  await expect.poll(known).toEqual(['d', 'b']);
  expect(requests.slice(2)).toEqual([['b'], ['d'], ['d']]);
  expect(useApp.getState().errors).toEqual([]);
});
