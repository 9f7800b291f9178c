import { Menu } from '@base-ui/react/menu';
import { useMemo, useSyncExternalStore } from 'react';
import { exportFileName } from '../../../../core/contract/file-names.ts';
import { saveFile } from '../../../api/files.ts';
import { formatRoute } from '../../../base/routes.ts';
import { useTitle } from '../../../base/title.ts';
import { Chart } from '../../../charts/chart.tsx';
import { ChartsView } from '../../../charts/charts-view.tsx';
import { colorsOf, toPng } from '../../../charts/export-chart.ts';
import { useChartPreferences } from '../../../charts/preferences.ts';
import { useMetricNames } from '../../../charts/use-metric-names.ts';
import { BackToRun } from '../../../components/back-to-run.tsx';
import { Empty } from '../../../components/basics.tsx';
import { Icon } from '../../../components/icon.tsx';
import { MenuItem, PopupMenu } from '../../../components/menu.tsx';
import { useApp, useRunSummary } from '../../../stores/app-store.ts';
import { useComparedRuns } from '../../../views/compared-runs.ts';
import { useRun } from '../../../views/run-view.tsx';
import { successorOf } from '../echo-trap/possible-actions.ts';
import { rescueCharts, rescueMarks } from './rescue-charts.ts';
import { type Report, rescueHtml, rescueSvg } from './rescue-file.ts';
import styles from './rescue-page.module.css';
import { type Side, type Story, sideTitles, storyOf } from './story.ts';

/** Shows the roll-back of a run and its result. Must be inside the RunView of that run. */
export function RescuePage() {
  const runId = useRun((state) => state.runId);
  const loaded = useRun((state) => state.loaded);
  const run = useRunSummary(runId);
  const fork = run ? successorOf(run) : null;
  const series = useRun((state) => state.series);
  const [successor] = useComparedRuns(fork === null ? [] : [fork]);
  const continued = useRunSummary(fork ?? '');
  useTitle(run ? `Rescue · ${run.name}` : null);
  if (!run || !loaded || (successor && !successor.loaded)) return <Note title="Loading the run…" />;
  if (fork === null)
    return (
      <Note title="This run was not rolled back">
        After a roll-back, this page compares the two runs.{' '}
        <a href={formatRoute({ page: 'run', runId })}>Go to {run.name}</a>
      </Note>
    );
  const after = successor && continued ? { run: continued, series: successor.series } : null;
  return (
    <ChartsView>
      <Rescue before={{ run, series }} after={after} />
    </ChartsView>
  );
}

function Note({ title, children }: Parameters<typeof Empty>[0]) {
  return (
    <div className="page">
      <h1>Rescue</h1>
      <Empty title={title}>{children}</Empty>
    </div>
  );
}

function Rescue({ before, after }: { before: Side; after: Side | null }) {
  const config = useRun((state) => state.config);
  const alerts = useRun((state) => state.alerts);
  const own = before.series;
  const others = after?.series;
  const sources = useMemo(() => (others ? [own, others] : [own]), [own, others]);
  const names = useMetricNames(sources);
  useSyncExternalStore(own.subscribe, () => own.version);
  useSyncExternalStore(others?.subscribe ?? own.subscribe, () => others?.version);
  const story = storyOf(before, config, alerts, after);
  const { warning = null, from = 0, checkpoint = 0 } = story ?? {};
  const { series: evidence = null, baseline = null } = warning ?? {};
  const charts = useMemo(
    () =>
      rescueCharts({
        ...{ before: own, after: others ?? null, config, evidence, baseline },
        names: names.split('\n'),
      }),
    [own, others, config, names, evidence, baseline],
  );
  const marks = useMemo(() => rescueMarks({ warning, from, checkpoint }), [warning, from, checkpoint]);
  if (!story) return null;
  const { run } = before;
  const reportOf = (): Report => {
    const { smoothing, ignoreOutliers } = useChartPreferences.getState();
    const pictures = charts.map(({ spec, traces, axis, extent, references = [] }) => {
      const view = { zoom: extent(), smoothing, log: false, ignoreOutliers };
      return { spec, traces, axis, view, marks, references, subtitle: '' };
    });
    const color = colorsOf(document.documentElement);
    return { run: run.name, story, charts: pictures, color };
  };
  return (
    <div className={`page ${styles.page}`} data-narrow>
      <header className="page-head">
        <div>
          <div className="row wrap">
            <BackToRun runId={run.id} name={run.name} />
            <h1>Rescue</h1>
          </div>
          <p className={styles.result}>{story.result}</p>
        </div>
        <SaveMenu name={run.name} reportOf={reportOf} />
      </header>
      <dl className={`panel ${styles.steps}`}>
        {story.steps.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {name === 'Continued as' ? <a href={formatRoute({ page: 'run', runId: after!.run.id })}>{text}</a> : text}
            </dd>
          </div>
        ))}
      </dl>
      {charts.map((chart) => (
        <Chart key={chart.spec.id} {...chart} marks={marks} height={260} />
      ))}
      <Numbers story={story} />
    </div>
  );
}

function Numbers({ story: { numbers, note } }: { story: Story }) {
  return (
    <div className={`panel ${styles.numbers}`}>
      <table className="table">
        <thead>
          <tr>
            <td />
            {sideTitles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbers.map(([name, left, right]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{left}</td>
              <td>{right}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="faint small">{note}</p>
    </div>
  );
}

/** Saves the page as a file. */
function SaveMenu({ name, reportOf }: { name: string; reportOf: () => Report }) {
  const report = useApp((state) => state.report);
  const html = () =>
    saveFile(exportFileName(name, 'rescue', 'html'), new Blob([rescueHtml(reportOf())], { type: 'text/html' }));
  const png = () => {
    const { svg, ...size } = rescueSvg(reportOf());
    toPng(new Blob([svg], { type: 'image/svg+xml' }), size)
      .then((picture) => saveFile(exportFileName(name, 'rescue', 'png'), picture))
      .catch(report);
  };
  return (
    <PopupMenu
      trigger={
        <Menu.Trigger className="button">
          <Icon name="down" size={14} />
          Save
        </Menu.Trigger>
      }
    >
      <MenuItem icon="note" onClick={html}>
        Save as HTML
      </MenuItem>
      <MenuItem icon="export" onClick={png}>
        Save as PNG
      </MenuItem>
    </PopupMenu>
  );
}
