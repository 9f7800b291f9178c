import { EventEmitter } from 'node:events';
import { beforeEach, expect, test, vi } from 'vitest';

interface Bridge {
  send(message: string): void;
  receive(callback: (message: string) => void): () => void;
  onClose(callback: () => void): () => void;
  chooseNotifications(choice: string): void;
  onCommand(callback: (command: string) => void): () => void;
  onOpenPage(callback: (page: string) => void): () => void;
  save(exportId: string): Promise<unknown>;
  upload(file: string, offset: number, part: Uint8Array): Promise<unknown>;
  dataFolder(wish: string): Promise<unknown>;
  restart(): void;
}

const ipc = Object.assign(new EventEmitter(), { send: vi.fn(), invoke: vi.fn(async () => 'saved') });
const exposed = new Map<string, Bridge>();
vi.mock('electron', () => ({
  ipcRenderer: ipc,
  contextBridge: { exposeInMainWorld: (name: string, value: Bridge) => exposed.set(name, value) },
}));

beforeEach(async () => {
  await import('./preload.ts');
});

test('the page gets the functions of the bridge and no Electron objects', async () => {
  expect([...exposed.keys()]).toEqual(['starpo']);
  const bridge = exposed.get('starpo') as Bridge;
  expect(Object.keys(bridge).sort()).toEqual([
    'chooseNotifications',
    'dataFolder',
    'onClose',
    'onCommand',
    'onOpenPage',
    'receive',
    'restart',
    'save',
    'send',
    'upload',
  ]);

  bridge.send('out');
  expect(ipc.send).toHaveBeenCalledWith('starpo', 'out');

  const received: unknown[][] = [];
  const end = bridge.receive((...args) => received.push(args));
  ipc.emit('starpo', { sender: 'secret' }, 'in');
  end();
  ipc.emit('starpo', {}, 'late');
  expect(received).toEqual([['in']]);

  bridge.chooseNotifications('off');
  expect(ipc.send).toHaveBeenCalledWith('starpo-notifications', 'off');

  const commands: unknown[][] = [];
  bridge.onCommand((...args) => commands.push(args))();
  bridge.onCommand((...args) => commands.push(args));
  ipc.emit('starpo-command', { sender: 'secret' }, 'go.history');
  expect(commands).toEqual([['go.history']]);
  const pages: unknown[][] = [];
  bridge.onOpenPage((...args) => pages.push(args));
  ipc.emit('starpo-go', { sender: 'secret' }, '#/system');
  expect(pages).toEqual([['#/system']]);

  expect(await bridge.save('an-export')).toBe('saved');
  expect(ipc.invoke).toHaveBeenCalledWith('starpo-save', 'an-export');

  const part = new Uint8Array([1]);
  await bridge.upload('a-file', 4, part);
  expect(ipc.invoke).toHaveBeenCalledWith('starpo-upload', 'a-file', 4, part);

  await bridge.dataFolder('get');
  expect(ipc.invoke).toHaveBeenCalledWith('starpo-data-folder', 'get');
  bridge.restart();
  expect(ipc.send).toHaveBeenCalledWith('starpo-restart');

  const closed: unknown[][] = [];
  const stop = bridge.onClose((...args) => closed.push(args));
  ipc.emit('starpo-closed', { sender: 'secret' }, 'more');
  stop();
  ipc.emit('starpo-closed', {});
  expect(closed).toEqual([[]]);
});
