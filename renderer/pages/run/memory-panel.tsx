import type { MemoryPart, MemoryPlan } from '../../../core/contract/contract.ts';
import { Panel } from '../../components/basics.tsx';
import { gigabytes, percent } from '../../components/format.ts';
import { useRun } from '../../views/run-view.tsx';

/** Labels of the parts. Their order in docs/formats/journal.md determines the colors. */
const labels: Record<string, string> = {
  policy: 'Policy: weights, gradients, optimizer',
  critic: 'Critic: weights, gradients, optimizer',
  reference: 'Reference policy',
  kv_cache: 'KV cache of all episodes',
  activations: 'Activations per micro-batch',
  logits: 'Logits',
  workspace: 'Workspace',
  rollout_buffers: 'Decoding buffers',
  start: 'Initial policy',
};
const colorOf = (name: string) => Object.keys(labels).indexOf(name) + 1;

const lifetimes: Record<MemoryPart['lifetime'], string> = {
  run: 'always',
  rollout: 'during rollout',
  update: 'during update',
};

/** Shows the trainer's memory plan for the device, if it made one. Older trainers made none on the CPU. */
export function MemoryPanel() {
  const plan = useRun((state) => state.memoryPlan);
  if (!plan) return null;
  const note = `${gigabytes(plan.total_bytes)} of ${gigabytes(plan.device_bytes)} on ${plan.device}`;
  return (
    <Panel open title="Memory" note={note}>
      <div className="memory">
        <Bar plan={plan} lifetime="rollout" />
        <Bar plan={plan} lifetime="update" />
        <table className="table">
          <caption className="visually-hidden">Parts of the memory plan</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Allocated</th>
              <th scope="col" className="numeric">
                Size
              </th>
            </tr>
          </thead>
          <tbody>
            {plan.parts
              .filter(({ bytes }) => bytes > 0)
              .map(({ name, lifetime, bytes }) => (
                <tr key={name}>
                  <th scope="row">
                    <span className="memory-key" data-part={colorOf(name)} aria-hidden="true" />
                    {labels[name] ?? name}
                  </th>
                  <td>{lifetimes[lifetime]}</td>
                  <td className="numeric">{gigabytes(bytes)}</td>
                </tr>
              ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Peak memory</th>
              <td>{gigabytes(plan.free_bytes)} free at start</td>
              <td className="numeric">{gigabytes(plan.total_bytes)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </Panel>
  );
}

/** Draws the memory used during one of the two phases, as a share of the device. */
function Bar({ plan, lifetime }: { plan: MemoryPlan; lifetime: 'rollout' | 'update' }) {
  const parts = plan.parts.filter((part) => part.lifetime === 'run' || part.lifetime === lifetime);
  const sum = parts.reduce((bytes, part) => bytes + part.bytes, 0);
  const share = sum / plan.device_bytes;
  return (
    <div className="memory-row">
      <span className="muted">{lifetimes[lifetime]}</span>
      <div
        className="memory-bar"
        role="img"
        aria-label={`${lifetimes[lifetime]} ${gigabytes(sum)}, ${percent(share, 0)}`}
      >
        {parts.map(({ name, bytes }) => (
          <span
            key={name}
            data-part={colorOf(name)}
            style={{ width: `${(100 * bytes) / plan.device_bytes}%` }}
            title={`${labels[name] ?? name}: ${gigabytes(bytes)}`}
          />
        ))}
      </div>
      <span className="numeric">{percent(share, 0)}</span>
    </div>
  );
}
