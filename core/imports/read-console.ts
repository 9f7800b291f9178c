import { type Table, TableBuilder } from './table.ts';

/** A line of verl's console logger: `step:1 - actor/loss:0.25 - ...`, possibly after Ray's prefix. */
const stepLine = /(?:^|\s)step:(\d+) - (\S.*)$/;

export const isConsoleLog = (text: string) => /(?:^|[^\S\n]|\n)step:\d+ - \S+:/.test(text);

/** Reads the metrics in the output of a trainer that logs to the console. Other lines are ignored. */
export function readConsole(file: string, text: string): Table {
  const builder = new TableBuilder(file);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals use them for colors.
  const plain = text.replaceAll(/\x1b\[[0-9;]*m/g, '');
  for (const line of plain.split(/\r?\n/)) {
    const [, step, pairs] = stepLine.exec(line) ?? [];
    if (step === undefined || pairs === undefined) continue;
    const row = builder.addRow();
    builder.column('step').add(row, Number(step));
    for (const pair of pairs.split(' - ')) {
      const at = pair.lastIndexOf(':');
      if (at <= 0) continue;
      // NumPy 2 prints its numbers as `np.float64(0.25)`.
      const value = pair.slice(at + 1).replace(/^np\.\w+\((.*)\)$/, '$1');
      builder.column(pair.slice(0, at).trim()).addText(row, value);
    }
  }
  return builder.build();
}
