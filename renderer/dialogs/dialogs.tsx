import type { Route } from '../base/routes.ts';
import { KeysDialog } from '../commands/keys-dialog.tsx';
import { Palette } from '../commands/palette.tsx';
import { useDialogs } from '../stores/dialogs-store.ts';
import { CopyManually } from './copy-manually.tsx';
import { CleanRuns, DeleteRuns, EmptyTrash } from './delete-runs.tsx';
import { EvaluateRun } from './evaluate-run.tsx';
import { ExportRun } from './export-run.tsx';
import { ForkRun } from './fork-run.tsx';
import { ImportRuns } from './import-runs.tsx';
import { RollBack } from './roll-back.tsx';
import { RenameRun, StopRun, TagRuns } from './run-dialogs.tsx';
import { SubmitJobs } from './submit-jobs.tsx';
import { TrainMore } from './train-more.tsx';

export function Dialogs({ route }: { route: Route }) {
  const { dialog, closeDialog: close } = useDialogs();
  if (!dialog) return null;
  switch (dialog.kind) {
    case 'delete':
      return <DeleteRuns runs={dialog.runs} close={close} />;
    case 'clean':
      return <CleanRuns runs={dialog.runs} close={close} />;
    case 'empty-trash':
      return <EmptyTrash close={close} />;
    case 'tag':
      return <TagRuns runs={dialog.runs} close={close} />;
    case 'rename':
      return <RenameRun run={dialog.run} close={close} />;
    case 'stop':
      return <StopRun run={dialog.run} close={close} />;
    case 'export':
      return <ExportRun run={dialog.run} close={close} />;
    case 'train-more':
      return <TrainMore run={dialog.run} close={close} />;
    case 'fork':
      return <ForkRun run={dialog.run} checkpoint={dialog.checkpoint} close={close} />;
    case 'evaluate':
      return <EvaluateRun run={dialog.run} checkpoint={dialog.checkpoint} close={close} />;
    case 'roll-back':
      return <RollBack run={dialog.run} advice={dialog.advice} alertId={dialog.alertId} close={close} />;
    case 'copy':
      return <CopyManually text={dialog.text} close={close} />;
    case 'submit':
      return <SubmitJobs jobs={dialog.jobs} target={dialog.target} close={close} />;
    case 'import':
      return <ImportRuns key={dialog.files?.map(({ name }) => name).join()} files={dialog.files ?? []} close={close} />;
    case 'keys':
      return <KeysDialog close={close} />;
    case 'palette':
      return <Palette route={route} close={close} />;
  }
}
