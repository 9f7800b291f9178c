/** jsdom has no canvas: a plot that holds its data and draws nothing but marks, which are elements. */
export default class {
  readonly over = document.createElement('div');
  constructor(_options: unknown, _data: unknown, target: HTMLElement) {
    target.append(this.over);
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
