import { channelPair } from '../../../core/contract/channel.ts';
import { FakeCore } from '../fake-core.ts';
import { gpu, memoryPlan, oldGpu, processor } from '../fake-data.ts';

// The page under test runs unchanged; only its bridge leads to a made-up core in the same window.
const { left, right } = channelPair();
const core = new FakeCore();
core.serve(right);
Object.assign(window, {
  fakeCore: core,
  starpo: {
    send: (text: string) => left.send(text),
    receive: (handler: (text: string) => void) => left.onMessage(handler),
    onClose: (handler: () => void) => left.onClose(handler),
  },
});
if (new URLSearchParams(location.search).has('trainer-missing')) {
  core.trainerProblem = 'native/build/starpo-trainer is missing: run `npm run setup`.';
}
const asked = new URLSearchParams(location.search);
if (asked.has('gpu')) {
  core.devices = [processor, gpu];
  core.modelFolder = '~/.local/share/starpo-studio/models/Qwen2.5-0.5B-Instruct';
  core.memoryPlan = memoryPlan;
}
if (asked.has('old-gpu')) core.devices = [processor, oldGpu];
core.runs.push({
  ...core.runs.find(({ id }) => id === 'bandit-5')!,
  id: 'sokoban-8',
  name: 'Sokoban 8',
  preset: 'starter-sokoban',
  environments: ['sokoban'],
});
if (new URLSearchParams(location.search).has('empty')) core.runs.splice(0);
await import('../../../renderer/main.tsx');
