import type { Command } from 'commander';
import { targetName } from '../../contract/cluster.ts';
import { procedures } from '../../contract/contract.ts';
import {
  cancelJob,
  checkTarget,
  holdJob,
  listJobs,
  listTargets,
  printScript,
  releaseJob,
  requeueJob,
  setNice,
} from '../commands/cluster.ts';
import { checkedBy, command, json, numberBy, option, runNames } from './options.ts';

/** Options of commands that can send runs to a cluster. */
export const onCluster = [
  option('--on <target>', 'send to a cluster, as described in targets.json (docs/formats/targets.md)').argParser(
    checkedBy(targetName),
  ),
  option('--yes', 'send without a question'),
];

/** Adds the commands about jobs on a cluster. */
export function addClusterCommands(root: Command): void {
  const cluster = root.command('cluster').description('manage runs on a Slurm cluster');
  command(cluster, 'list', 'list the newest job of each run that was sent', [json], listJobs).alias('jobs');
  command(cluster, 'targets', 'list the targets of targets.json', [json], listTargets);
  command(cluster, 'check <target>', 'ask the cluster whether a job of a target could run', [], checkTarget);
  const target = onCluster[0]!;
  command(cluster, 'script', 'print the script that sends a run', [target], printScript).argument('<run>', runNames);
  const acts = [
    ['cancel', 'cancel the job of a run; a running trainer writes a checkpoint first', cancelJob],
    ['hold', 'keep a waiting job from starting', holdJob],
    ['release', 'let a held job start', releaseJob],
    ['requeue', 'end the attempt of a job and let it start again', requeueJob],
  ] as const;
  for (const [name, description, action] of acts)
    command(cluster, name, description, [], action).argument('<run>', runNames);
  command(cluster, 'nice', 'let a waiting job start later than others', [], setNice)
    .argument('<run>', runNames)
    .argument('<number>', '0 is normal; larger starts later', numberBy(procedures['cluster.nice'].input.shape.nice));
}
