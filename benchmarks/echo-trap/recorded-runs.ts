/** Counts collapses per step size in the tuning runs, for the warning before a run starts. Usage: node benchmarks/echo-trap/recorded-runs.ts */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readLabeledRuns } from '../../core/echo-trap/labeled-runs.ts';
import { countRecordedRuns } from '../../core/echo-trap/recorded-runs.ts';

const { runs } = readLabeledRuns(join(import.meta.dirname, 'tuning'));
const lines = countRecordedRuns(runs).map((each) => `  ${JSON.stringify(each)}`);
writeFileSync(resolve(import.meta.dirname, '../../core/echo-trap/recorded-runs.json'), `[\n${lines.join(',\n')}\n]\n`);
