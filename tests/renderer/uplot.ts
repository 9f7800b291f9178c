type Hook = (plot: StillPlot) => void;

/** jsdom has no canvas: a plot that keeps its data and draws only marks, which are elements. */
export default class StillPlot {
  static readonly pxRatio = 1;
  readonly over = document.createElement('div');
  readonly bbox = { left: 0, top: 0, width: 1000, height: 100 };
  readonly data = [[]];
  readonly ctx = new Proxy({}, { get: () => () => ({ width: 0 }), set: () => true });
  constructor({ hooks }: { hooks: { draw: Hook[] } }, _data: unknown, target: HTMLElement) {
    target.append(this.over);
    for (const hook of hooks.draw) hook(this);
  }
  valToPos(iteration: number): number {
    return iteration;
  }
  posToVal(position: number): number {
    return position;
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
    this.over.remove();
  }
}
