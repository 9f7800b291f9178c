type Hook = (plot: StillPlot) => void;

/** jsdom has no canvas: a plot that holds its data and draws nothing but marks, which are elements. */
export default class StillPlot {
  readonly over = document.createElement('div');
  constructor({ hooks }: { hooks: { draw: Hook[] } }, _data: unknown, target: HTMLElement) {
    target.append(this.over);
    for (const hook of hooks.draw) hook(this);
  }
  valToPos(iteration: number): number {
    return iteration;
  }
  setData() {}
  setSize() {}
  destroy() {
    this.over.remove();
  }
}
