import { useState } from 'react';
import { IconButton } from '../components/basics.tsx';
import { MenuButton, MenuCheckbox, MenuItem, MenuSeparator, PopupMenu } from '../components/menu.tsx';
import { useApp } from '../stores/app-store.ts';
import type { ChartItem } from './chart.tsx';
import styles from './chart-actions.module.css';
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
      <PopupMenu trigger={<MenuButton label={`More for ${spec.title}`} />}>
        <MenuCheckbox checked={isLog} onCheckedChange={() => toggleLog(spec.id)}>
          Logarithmic scale
        </MenuCheckbox>
        <MenuCheckbox checked={position >= 0} closeOnClick onCheckedChange={() => togglePin(spec.id)}>
          Pin to top
        </MenuCheckbox>
        <MenuItem onClick={() => setEditingTarget(true)}>{hasTarget ? 'Change target…' : 'Set target…'}</MenuItem>
        {position >= 0 && pins.length > 1 && (
          <>
            <MenuItem disabled={position === 0} closeOnClick={false} onClick={() => movePin(spec.id, -1)}>
              Move left
            </MenuItem>
            <MenuItem disabled={position === pins.length - 1} closeOnClick={false} onClick={() => movePin(spec.id, 1)}>
              Move right
            </MenuItem>
          </>
        )}
        <MenuSeparator />
        {exports.map(([kind, text]) => (
          <MenuItem key={kind} onClick={() => save(kind)}>
            {text}
          </MenuItem>
        ))}
      </PopupMenu>
      {editingTarget && <TargetDialog spec={spec} close={() => setEditingTarget(false)} />}
    </div>
  );
}

/** Returns a function that saves the chart as currently shown. */
export function useExport(item: ChartItem, marks: readonly ChartMark[], subtitle: string): (kind: ExportKind) => void {
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
