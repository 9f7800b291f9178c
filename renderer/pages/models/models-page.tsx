import { useTitle } from '../../base/title.ts';
import { DownloadList } from './download-list.tsx';
import { FindModel } from './find-model.tsx';
import { HubForm } from './hub-form.tsx';
import { ModelTable } from './model-table.tsx';
import styles from './models-page.module.css';
import { RunCheckpointTable } from './run-checkpoints.tsx';
import { useModels } from './use-models.ts';

/** Shows local models, models on the hub, and checkpoints. `repository` is a hub model to find immediately. */
export function ModelsPage({ repository }: { repository: string | null }) {
  const { list, failed, tasks } = useModels();
  useTitle('Models');
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>Models</h1>
          <p className="muted">Base models for runs, in Hugging Face format.</p>
        </div>
      </header>
      <section className={styles.section} aria-labelledby="models-get">
        <h2 id="models-get">Get a model</h2>
        <FindModel key={repository} repository={repository} />
        {list && <DownloadList downloads={list.downloads} tasks={tasks} />}
        <HubForm />
      </section>
      {!list && <p className="muted">{failed ? "Can't read the models." : 'Loading models…'}</p>}
      {list && <ModelTable models={list.models} />}
      {list && list.checkpoints.length > 0 && <RunCheckpointTable runs={list.checkpoints} />}
    </div>
  );
}
