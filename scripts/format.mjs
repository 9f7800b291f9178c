import { formatNative } from './lib/clang-format.mjs';
import { pinnedNode, root, run } from './lib/process.mjs';

const { status } = await run(pinnedNode(), ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '.'], {
  show: true,
});
for (const line of await formatNative(root, { write: true }))
  console.log(line.replace(/ is not formatted.*/, ' formatted'));
process.exitCode = status ?? 1;
