import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { IconButton } from '../components/basics.tsx';
import { Icon } from '../components/icon.tsx';
import menu from '../components/menu.module.css';
import { useApp } from '../stores/app-store.ts';
import type { ChartItem } from './chart.tsx';
import styles from './chart-actions.module.css';
import { Indicator } from './chart-toolbar.tsx';
import { useChartsStore } from './charts-view.tsx';
import { type ExportKind, exportChart } from './export-chart.ts';
import type { ChartMark } from './marks.ts';
import { useChartPreferences } from './preferences.ts';
import { TargetDialog } from './target-dialog.tsx';

interface ActionsProps {
  item: ChartItem;
  marks: readonly ChartMark[];
  /** Name of the run or runs, for file names. */
  subtitle: string;
  onExpand?: () => void;
}

const exports: [ExportKind, string][] = [
  ['png', 'Save as PNG'],
  ['svg', 'Save as SVG'],
  ['csv', 'Save as CSV'],
];

/** Menu and buttons of a chart, visible on hover and keyboard focus. */
export function ChartActions({ item, marks, subtitle, onExpand }: ActionsProps) {
  const { spec } = item;
  // Select only what is shown: every chart has this component.
  const pins = useChartPreferences((state) => state.pins);
  const isLog = useChartPreferences((state) => state.log.includes(spec.id));
  const hasTarget = useChartPreferences((state) => state.targets[spec.id] !== undefined);
  const { togglePin, toggleLog, movePin } = useChartPreferences.getState();
  const [editingTarget, setEditingTarget] = useState(false);
  const save = useExport(item, marks, subtitle);
  const position = pins.indexOf(spec.id);
  return (
    <div className={styles.actions}>
      {onExpand && <IconButton icon="expand" label={`Enlarge ${spec.title}`} onClick={onExpand} />}
      <Menu.Root>
        <Menu.Trigger className="icon-button" aria-label={`More for ${spec.title}`} title="More">
          <Icon name="more" />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className={menu.positioner} sideOffset={4} align="end">
            <Menu.Popup className={menu.popup}>
              <Menu.CheckboxItem
                className={menu.item}
                checked={isLog}
                onCheckedChange={() => toggleLog(spec.id)}
              >
                <Indicator />
                Logarithmic scale
              </Menu.CheckboxItem>
              <Menu.CheckboxItem
                className={menu.item}
                checked={position >= 0}
                closeOnClick
                onCheckedChange={() => togglePin(spec.id)}
              >
                <Indicator />
                Pin to top
              </Menu.CheckboxItem>
              <Menu.Item className={menu.item} onClick={() => setEditingTarget(true)}>
                <span className={menu.indicator} />
                {hasTarget ? 'Change target…' : 'Set target…'}
              </Menu.Item>
              {position >= 0 && pins.length > 1 && (
                <>
                  <Menu.Item
                    className={menu.item}
                    disabled={position === 0}
                    closeOnClick={false}
                    onClick={() => movePin(spec.id, -1)}
                  >
                    <span className={menu.indicator} />
                    Move left
                  </Menu.Item>
                  <Menu.Item
                    className={menu.item}
                    disabled={position === pins.length - 1}
                    closeOnClick={false}
                    onClick={() => movePin(spec.id, 1)}
                  >
                    <span className={menu.indicator} />
                    Move right
                  </Menu.Item>
                </>
              )}
              <Menu.Separator className={menu.separator} />
              {exports.map(([kind, text]) => (
                <Menu.Item key={kind} className={menu.item} onClick={() => save(kind)}>
                  <span className={menu.indicator} />
                  {text}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {editingTarget && <TargetDialog spec={spec} close={() => setEditingTarget(false)} />}
    </div>
  );
}

/** Returns a function that saves the chart as currently shown. */
export function useExport(
  item: ChartItem,
  marks: readonly ChartMark[],
  subtitle: string,
): (kind: ExportKind) => void {
  const store = useChartsStore();
  const report = useApp((state) => state.report);
  return (kind) => {
    const { smoothing, log, ignoreOutliers } = useChartPreferences.getState();
    const { spec, traces, axis, extent, references = [] } = item;
    const zoom = store.getState().zoom ?? extent();
    const view = { zoom, smoothing, log: log.includes(spec.id), ignoreOutliers };
    const picture = { spec, traces, axis, view, marks, references, subtitle };
    exportChart(kind, picture, document.documentElement).catch(report);
  };
}
