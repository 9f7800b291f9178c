import { Menu } from '@base-ui/react/menu';
import { type ReactNode, useId } from 'react';
import { Button } from '../components/basics.tsx';
import { Icon } from '../components/icon.tsx';
import menu from '../components/menu.module.css';
import { MenuButton, MenuCheckbox, MenuItem, MenuSeparator, PopupMenu } from '../components/menu.tsx';
import { type AxisKind, axisKinds, axisLabels } from './axes.ts';
import styles from './chart-toolbar.module.css';
import { useCharts } from './charts-view.tsx';
import { type ChartSize, useChartPreferences } from './preferences.ts';
import type { ChartSearch } from './use-search.ts';

interface ToolbarProps {
  axis: AxisKind;
  axes: readonly AxisKind[];
  search: ChartSearch;
  children?: ReactNode;
}

/** Shows settings shared by all charts of a page: search, axis, smoothing and options. */
export function ChartToolbar({ axis, axes, search, children }: ToolbarProps) {
  const zoom = useCharts((state) => state.zoom);
  const setZoom = useCharts((state) => state.setZoom);
  const change = useChartPreferences((state) => state.change);
  const note = useId();
  return (
    <div className={`${styles.toolbar} row wrap`}>
      <h2>Metrics</h2>
      <label className={styles.search}>
        <Icon name="search" size={14} />
        <input
          type="search"
          value={search.text}
          placeholder="Search metrics"
          aria-label="Search metrics by text or regular expression"
          aria-describedby={note}
          spellCheck={false}
          onChange={({ target }) => search.setText(target.value)}
        />
      </label>
      <span id={note} className="faint small" role="status">
        {search.note}
      </span>
      <span className="spacer" />
      {zoom && (
        <Button kind="quiet" icon="reset" onClick={() => setZoom(null)} title="Reset zoom">
          {zoomText(axis, zoom.min, zoom.max)}
        </Button>
      )}
      {children}
      <div className={styles.tools}>
        <label className="choice">
          <span>X axis</span>
          <select value={axis} onChange={({ target }) => change({ axis: target.value as AxisKind })}>
            {axisKinds
              .filter((kind) => axes.includes(kind))
              .map((kind) => (
                <option key={kind} value={kind} title={axisLabels[kind].hint}>
                  {axisLabels[kind].by}
                </option>
              ))}
          </select>
        </label>
        <Smoothing />
        <Options />
      </div>
    </div>
  );
}

function zoomText(axis: AxisKind, min: number, max: number): string {
  const { tick } = axisLabels[axis];
  return axis === 'iteration' ? `Iterations ${min} to ${max}` : `${tick(min)} to ${tick(max)}`;
}

function Smoothing() {
  const smoothing = useChartPreferences((state) => state.smoothing);
  const change = useChartPreferences((state) => state.change);
  return (
    <label className="choice" title="Weight of the exponential moving average. Raw values are drawn faint.">
      <span>Smoothing</span>
      <input
        type="range"
        min={0}
        max={0.99}
        step={0.01}
        value={smoothing}
        onChange={({ target }) => change({ smoothing: Number(target.value) })}
      />
      <output className={styles.amount}>{smoothing === 0 ? 'off' : smoothing.toFixed(2)}</output>
    </label>
  );
}

const sizeLabels: Record<ChartSize, string> = { small: 'Small', medium: 'Medium', large: 'Large' };

function Options() {
  const { ignoreOutliers, size, change } = useChartPreferences();
  return (
    <PopupMenu trigger={<MenuButton icon="options" label="Chart options" title="Chart options" />} sideOffset={6}>
      <MenuCheckbox checked={ignoreOutliers} onCheckedChange={(checked) => change({ ignoreOutliers: checked })}>
        Ignore outliers
        <span className={`${menu.note} faint small`}>scale without the outer 1 %</span>
      </MenuCheckbox>
      <MenuSeparator />
      <Menu.Group>
        <Menu.GroupLabel className={`${menu.label} faint small`}>Chart size</Menu.GroupLabel>
        <Menu.RadioGroup value={size} onValueChange={(value: ChartSize) => change({ size: value })}>
          {Object.entries(sizeLabels).map(([value, word]) => (
            <Menu.RadioItem key={value} className={menu.item} value={value}>
              <span className={menu.indicator}>
                <Menu.RadioItemIndicator>
                  <Icon name="check" size={14} />
                </Menu.RadioItemIndicator>
              </span>
              {word}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Group>
      <MenuSeparator />
      <MenuItem onClick={() => change({ pins: [], log: [], open: {} })}>Reset pins, scales and sections</MenuItem>
    </PopupMenu>
  );
}
