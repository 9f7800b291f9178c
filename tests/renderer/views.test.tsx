import { type ReactNode, useEffect } from 'react';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { useApi } from '../../renderer/api/context.ts';
import { ReplayPage } from '../../renderer/pages/replay/replay-page.tsx';
import { RunPage } from '../../renderer/pages/run/run-page.tsx';
import { ReplayView } from '../../renderer/player/replay-view.tsx';
import { followServer } from '../../renderer/stores/app-store.ts';
import { RunView } from '../../renderer/views/run-view.tsx';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';
import StillPlot from './uplot.ts';

const template = new World();
const runs: string[] = [];
beforeAll(async () => {
  const core = await template.core();
  for (const preset of ['starter-frozen-lake', 'starter-bandit']) {
    const runId = await core.runs.create({ preset, set: { ...small, iterations: 8 } });
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    runs.push(runId);
  }
  await core.dispose();
  return () => template.close();
});

let page: Page;
afterEach(() => page.close());

/** Shows several views side by side, as on the Compare page. */
function SideBySide({ children }: { children: ReactNode }) {
  const api = useApi();
  useEffect(() => followServer(api), [api]);
  return children;
}

test('two runs side by side have their own values and zoom', async () => {
  page = await Page.start(template);
  page.render(
    <SideBySide>
      {runs.map((runId) => (
        <article key={runId}>
          <RunView runId={runId}>
            <RunPage tab="charts" />
          </RunView>
        </article>
      ))}
    </SideBySide>,
  );
  const sides = () => page.all('article:has(> .run-page)');
  await page.shown(() => sides().every((side) => side.querySelector('[data-chart]')) && sides().length === 2);
  expect(sides().map((side) => side.querySelector('h1')?.textContent)).toEqual(
    runs.map((runId) => page.core.runs.get(runId).name),
  );
  const plotIn = (side: Element) => [...StillPlot.shown].find(({ over }) => side.contains(over));
  await page.shown(() => sides().every(plotIn));
  plotIn(sides()[0]!)!.setSelect({ left: 1, width: 6 });
  await page.shown(() => sides()[0]!.textContent?.includes('Iterations 1 to 7'));
  expect(sides()[1]!.textContent).not.toContain('Iterations 1 to 7');
  const ids = page.all('[id]').map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
});

test('two replays side by side have their own players', async () => {
  page = await Page.start(template);
  const [lake] = runs;
  const episodes = ['000004-train-0000', '000004-train-0002'];
  page.render(
    <SideBySide>
      <RunView runId={lake!}>
        {episodes.map((episodeId) => (
          <article key={episodeId}>
            <ReplayView>
              <ReplayPage evaluation={null} thought={null} reward={null} episodeId={episodeId} turn={null} />
            </ReplayView>
          </article>
        ))}
      </RunView>
    </SideBySide>,
  );
  const sides = () => page.all('article:has(> .replay-page)');
  const places = () => sides().map((side) => side.querySelector('.transport-place')?.textContent);
  await page.shown(() => places().join() === '0 / 6,0 / 2');
  expect(sides().map((side) => side.querySelector('.stage-head h2')?.textContent)).toEqual([
    'Group 1, episode 1',
    'Group 1, episode 3',
  ]);
  sides()[1]!.querySelector<HTMLElement>('button[aria-label^="Forward one action"]')!.click();
  await page.shown(() => places().join() === '0 / 6,1 / 2');
  // Keys go to both.
  page.press('End');
  await page.shown(() => places().join() === '6 / 6,2 / 2');
});
