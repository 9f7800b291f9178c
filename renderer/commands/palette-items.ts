import { useMemo } from 'react';
import { type CommandId, commandIds, factsOf } from '../../core/contract/commands.ts';
import { type RunSummary, sampleRunId } from '../../core/contract/contract.ts';
import { metricFacts, metricNames } from '../../core/facts/metric-facts.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import type { Route, RunTab } from '../base/routes.ts';
import { percent } from '../components/format.ts';
import type { IconName } from '../components/icon.tsx';
import { tabsOf, tabTitles } from '../components/run-tabs.ts';
import { useApp } from '../stores/app-store.ts';
import { requestSearch } from '../stores/search-request.ts';
import { useQuery } from '../stores/use-query.ts';
import { useSample } from '../stores/use-sample.ts';
import { actionsAt } from './commands.ts';
import type { Group, Searched } from './match.ts';

export interface PaletteItem extends Searched {
  id: string;
  icon: IconName;
  detail?: string;
  perform: () => void;
  command?: CommandId;
  run?: RunSummary;
}

type PaletteGroup = Group<PaletteItem>;

const menuLabels = { Go: 'Go to', Run: 'This run', App: 'App' } as const;

/** Returns everything that the palette finds, in display order. `first`: the groups shown before a search. */
export function usePaletteGroups(route: Route): { first: PaletteGroup[]; all: PaletteGroup[] } {
  const api = useApi();
  const { runs, presets } = useApp();
  // Once there are other runs, the sample is only linked here.
  const sample = useSample(true);
  const runId = 'runId' in route ? (route.runId ?? null) : null;
  const form = useQuery('configs.form', {}, 0).value;
  const models = useQuery('models.list', { checkpoints: false }, 0).value?.models;
  const sweeps = useQuery('studies.list', {}, 0).value;
  const ofRun = runId === null || runId === sampleRunId ? null : { runId };
  const checkpoints = useQuery('checkpoints.list', ofRun, 0).value;
  return useMemo(() => {
    const actions = actionsAt(api, route);
    const all = [...(runs ?? []), ...(sample ? [sample.summary] : [])].filter(({ marks }) => !marks.archived);
    const menu = (name: keyof typeof menuLabels): PaletteGroup => ({
      value: menuLabels[name],
      items: commandIds
        .filter((id) => actions[id] && id !== 'app.palette' && factsOf(id).menu === name)
        .map((id) => ({ id, icon: 'chevron', label: factsOf(id).title, command: id, perform: actions[id]! })),
    });
    const first = [
      menu('Run'),
      menu('Go'),
      { value: 'Runs', items: all.filter(({ id }) => id !== runId).map(runItem) },
      menu('App'),
    ].filter(({ items }) => items.length > 0);
    const run = runId === sampleRunId ? sample?.summary : runs?.find(({ id }) => id === runId);
    const others: PaletteGroup[] = [
      { value: 'Tabs of this run', items: run ? tabsOf(run).map((tab) => tabItem(run.id, tab)) : [] },
      {
        value: 'Checkpoints of this run',
        items: (checkpoints ?? []).flatMap((checkpoint) => checkpointItems(runId!, checkpoint)),
      },
      {
        value: 'Presets',
        items: (presets ?? []).map(({ id, title, algorithm, model }) => ({
          id,
          icon: 'start',
          label: [title, model?.title].filter(Boolean).join(', '),
          detail: algorithm,
          keywords: `${algorithm} ${id} preset`,
          perform: () => navigate({ page: 'new', from: { preset: id } }),
        })),
      },
      {
        value: 'Settings',
        items: [
          ...preferences,
          ...(form?.sections ?? []).flatMap((section) =>
            section.fields.map(({ path, title }) => settingItem(path, title, section.title, route)),
          ),
        ],
      },
      { value: 'Metrics', items: metricItems(metricRunOf(all, runId)) },
      {
        value: 'Sweeps',
        items: (sweeps ?? []).map(({ id, name }) => linkItem('study', name, { page: 'study', studyId: id })),
      },
      { value: 'Tags', items: tagItems(all) },
      {
        value: 'Models',
        items: (models ?? []).map(({ name, folder, repository }) => ({
          ...linkItem('model', name, { page: 'models' }),
          id: folder,
          keywords: `${folder} ${repository ?? ''} model`,
        })),
      },
    ];
    return { first, all: [...first, ...others] };
  }, [api, route, runs, presets, sample, runId, form, models, sweeps, checkpoints]);
}

const linkItem = (icon: IconName, label: string, route: Route): PaletteItem => ({
  id: label,
  icon,
  label,
  perform: () => navigate(route),
});

const preferences: PaletteItem[] = [
  ...['Theme', 'Desktop notifications', 'Single-key shortcuts', 'Data folder', 'TensorBoard logging'].map((label) => ({
    ...linkItem('options', label, { page: 'settings' }),
    detail: 'Settings',
  })),
  { ...linkItem('options', 'Hub address and token', { page: 'models' }), detail: 'Models' },
];

const runItem = (run: RunSummary): PaletteItem => ({
  id: run.id,
  icon: 'study',
  label: run.name,
  keywords: `${run.id} ${run.marks.tags.join(' ')} ${run.marks.note}`,
  run,
  perform: () => navigate({ page: 'run', runId: run.id }),
});

const tabItem = (runId: string, tab: RunTab): PaletteItem => ({
  ...linkItem('chevron', tabTitles[tab], { page: 'run', runId, tab }),
  keywords: 'tab',
});

const checkpointItems = (
  runId: string,
  { iteration, success }: { iteration: number; success: readonly { rate: number }[] },
): PaletteItem[] => {
  const detail = success.length === 1 ? `${percent(success[0]!.rate, 0)} success` : undefined;
  const item = (label: string, route: Route) => ({
    ...linkItem('checkpoint', `${label} checkpoint ${iteration}`, route),
    ...(detail && { detail }),
    keywords: 'checkpoint',
  });
  return [
    item('Fork from', { page: 'new', from: { run: runId, checkpoint: iteration } }),
    item('Play against', { page: 'play', runId, checkpoint: iteration }),
  ];
};

/** Searches for the setting in the open form, or in that of a new run. */
const settingItem = (path: string, title: string, section: string, route: Route): PaletteItem => ({
  id: path,
  icon: 'settings',
  label: title,
  detail: section,
  keywords: `${path} ${section} setting`,
  perform: () => {
    requestSearch('settings', path);
    if (route.page !== 'new') navigate({ page: 'new', from: { preset: null } });
  },
});

/** Returns the open run, otherwise the newest one with metrics. */
const metricRunOf = (runs: readonly RunSummary[], runId: string | null) =>
  runs.find(({ id }) => id === runId) ?? runs.find(({ iteration }) => iteration > 0);

/** Searches for the metric in the charts of a run. */
const metricItems = (run: RunSummary | undefined): PaletteItem[] =>
  run === undefined
    ? []
    : metricNames.map((name) => ({
        id: name,
        icon: 'vary',
        label: metricFacts(name).title,
        detail: run.name,
        keywords: `${name} ${metricFacts(name).meaning} metric chart`,
        perform: () => {
          requestSearch('charts', name);
          navigate({ page: 'run', runId: run.id, tab: 'charts' });
        },
      }));

/** Shows the runs with a tag in History. */
function tagItems(runs: readonly RunSummary[]): PaletteItem[] {
  const counts = new Map<string, number>();
  for (const tag of runs.flatMap(({ marks }) => marks.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].map(([tag, count]) => ({
    id: tag,
    icon: 'tag',
    label: tag,
    detail: count === 1 ? '1 run' : `${count} runs`,
    keywords: 'tag',
    perform: () => {
      requestSearch('tag', tag);
      navigate({ page: 'history', tab: 'runs' });
    },
  }));
}
