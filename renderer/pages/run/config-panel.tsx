import { Panel } from '../../components/basics.tsx';
import { useRun } from '../../views/run-view.tsx';

export function ConfigPanel() {
  const config = useRun((state) => state.config);
  const folder = useRun((state) => state.folder);
  return (
    <Panel title="Configuration" note={<code>{folder}/run.json</code>}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className="config" tabIndex={0} aria-label="Configuration as JSON">
        <pre>{JSON.stringify(config, null, 2)}</pre>
      </section>
    </Panel>
  );
}
