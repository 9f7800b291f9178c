import type { MemoryPart, MemoryPlan } from '../../../core/contract/contract.ts';
import { Panel } from '../../components/basics.tsx';
import { gigabytes, percent } from '../../components/format.ts';
import { useRun } from '../../views/run-view.tsx';

/** In the order of docs/formats/journal.md, which is that of the colours. */
const words: Record<string, string> = {
  policy: 'Policy: weights, gradients, optimiser',
  critic: 'Critic: the same',
  reference: 'Reference policy',
  kv_cache: 'Keys and values of all episodes',
  activations: 'Activations of a micro-batch',
  logits: 'Logits',
  workspace: 'Scratch',
  rollout_buffers: 'A step of decoding',
};
const colourOf = (name: string) => Object.keys(words).indexOf(name) + 1;

const times: Record<MemoryPart['lifetime'], string> = {
  run: 'always',
  rollout: 'while playing',
  update: 'while updating',
};

/** What the trainer planned to take of the device's memory; nothing where it planned none, as older trainers did on a processor. */
export function MemoryPanel() {
  const plan = useRun((state) => state.memoryPlan);
  if (!plan) return null;
  const note = `${gigabytes(plan.total_bytes)} of ${gigabytes(plan.device_bytes)} on ${plan.device}`;
  return (
    <Panel title="Memory" note={note}>
      <div className="memory">
        <Bar plan={plan} lifetime="rollout" />
        <Bar plan={plan} lifetime="update" />
        <table className="table">
          <caption className="visually-hidden">Parts of the memory plan</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Held</th>
              <th scope="col" className="numeric">
                Size
              </th>
            </tr>
          </thead>
          <tbody>
            {plan.parts.map(({ name, lifetime, bytes }) => (
              <tr key={name}>
                <th scope="row">
                  <span className="memory-key" data-part={colourOf(name)} aria-hidden="true" />
                  {words[name] ?? name}
                </th>
                <td>{times[lifetime]}</td>
                <td className="numeric">{gigabytes(bytes)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">At most at once</th>
              <td>{gigabytes(plan.free_bytes)} were free</td>
              <td className="numeric">{gigabytes(plan.total_bytes)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </Panel>
  );
}

/** One of the two times that take turns, as a share of the whole device. */
function Bar({ plan, lifetime }: { plan: MemoryPlan; lifetime: 'rollout' | 'update' }) {
  const held = plan.parts.filter((part) => part.lifetime === 'run' || part.lifetime === lifetime);
  const sum = held.reduce((bytes, part) => bytes + part.bytes, 0);
  const share = sum / plan.device_bytes;
  return (
    <div className="memory-row">
      <span className="memory-when">{times[lifetime]}</span>
      <div
        className="memory-bar"
        role="img"
        aria-label={`${times[lifetime]} ${gigabytes(sum)}, ${percent(share, 0)}`}
      >
        {held.map(({ name, bytes }) => (
          <span
            key={name}
            data-part={colourOf(name)}
            style={{ width: `${(100 * bytes) / plan.device_bytes}%` }}
            title={`${words[name] ?? name}: ${gigabytes(bytes)}`}
          />
        ))}
      </div>
      <span className="numeric">{percent(share, 0)}</span>
    </div>
  );
}
