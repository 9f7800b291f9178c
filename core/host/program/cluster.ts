import type { Command } from 'commander';
import { targetName } from '../../contract/cluster-job.ts';
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
  showJob,
} from '../commands/cluster.ts';
import { checkedBy, command, json, numberBy, option, runNames } from './options.ts';

/** Options of commands that can submit runs to a cluster. */
export const onCluster = [
  option('--on <target>', 'submit to a Slurm cluster of targets.json (docs/formats/targets.md)').argParser(
    checkedBy(targetName),
  ),
  option('--yes', 'submit without confirmation'),
];

/** Adds the commands about jobs on a cluster. */
export function addClusterCommands(root: Command): void {
  const cluster = root.command('cluster').description('manage runs on a Slurm cluster');
  command(cluster, 'list', 'list the newest job of each run', [json], listJobs).alias('jobs');
  command(
    cluster,
    'show',
    'print the newest job of a run, its attempts and the end of its log',
    [json],
    showJob,
  ).argument('<run>', runNames);
  command(cluster, 'targets', 'list the clusters of targets.json', [json], listTargets);
  command(cluster, 'check <target>', 'check whether and when a job could run on a cluster', [], checkTarget);
  const target = onCluster[0]!;
  const required = option(target.flags, 'cluster of targets.json')
    .argParser(checkedBy(targetName))
    .makeOptionMandatory();
  command(cluster, 'script', 'print the batch script of a run', [required], printScript).argument('<run>', runNames);
  const acts = [
    ['cancel', 'cancel the job of a run; a running trainer writes a checkpoint first', cancelJob],
    ['hold', 'hold a pending job', holdJob],
    ['release', 'release a held job', releaseJob],
    ['requeue', 'stop a job and queue it again', requeueJob],
  ] as const;
  for (const [name, description, action] of acts)
    command(cluster, name, description, [], action).argument('<run>', runNames);
  command(cluster, 'nice', 'lower the priority of a pending job', [], setNice)
    .argument('<run>', runNames)
    .argument(
      '<number>',
      'nice value: 0 is normal, a larger one lowers the priority',
      numberBy(procedures['cluster.nice'].input.shape.nice),
    );
}
