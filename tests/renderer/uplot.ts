type Hook = (plot: StillPlot) => void;
type Hooks = { draw: Hook[]; setSelect: Hook[] };

/** jsdom has no canvas: a plot that keeps its data and draws only marks, which are elements. */
export default class StillPlot {
  static readonly pxRatio = 1;
  static readonly shown = new Set<StillPlot>();
  readonly over = document.createElement('div');
  readonly select = { left: 0, top: 0, width: 0, height: 0 };
  readonly bbox = { left: 0, top: 0, width: 1000, height: 100 };
  readonly data = [[]];
  readonly ctx = new Proxy({}, { get: () => () => ({ width: 0 }), set: () => true });
  private readonly hooks: Hooks;
  constructor({ hooks }: { hooks: Hooks }, _data: unknown, target: HTMLElement) {
    this.hooks = hooks;
    StillPlot.shown.add(this);
    target.append(this.over);
    for (const hook of hooks.draw) hook(this);
  }
  valToPos(iteration: number): number {
    return iteration;
  }
  posToVal(position: number): number {
    return position;
  }
  setSelect(select: Partial<StillPlot['select']>, callHooks = true): void {
    Object.assign(this.select, select);
    if (callHooks) for (const hook of this.hooks.setSelect) hook(this);
  }
  valToIdx(): number {
    return 0;
  }
  batch(change: () => void) {
    change();
  }
  setData() {}
  setSize() {}
  setCursor() {}
  destroy() {
    StillPlot.shown.delete(this);
    this.over.remove();
  }
}
