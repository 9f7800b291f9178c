import { useEffect } from 'react';
import { DownloadList } from './download-list.tsx';
import { FindModel } from './find-model.tsx';
import { HubForm } from './hub-form.tsx';
import { ModelTable } from './model-table.tsx';
import styles from './models-page.module.css';
import { RunCheckpointTable } from './run-checkpoints.tsx';
import { useModels } from './use-models.ts';

/** What runs can begin from: folders of this machine, what a hub has, and the checkpoints of runs. `repository`: what to look up there at once. */
export function ModelsPage({ repository }: { repository: string | null }) {
  const { list, tasks } = useModels();
  useEffect(() => {
    document.title = 'Models · StarPO Studio';
  }, []);
  return (
    <div className="page">
      <header className="page-head">
        <h1>Models</h1>
        <p className="muted">What runs begin from. A model is a folder in Hugging Face's layout.</p>
      </header>
      <section className={styles.section} aria-labelledby="models-get">
        <h2 id="models-get">Get a model</h2>
        <FindModel key={repository} repository={repository} />
        {list && <DownloadList downloads={list.downloads} tasks={tasks} />}
        <HubForm />
      </section>
      {!list && <p className="muted">Looking for models…</p>}
      {list && <ModelTable models={list.models} />}
      {list && list.checkpoints.length > 0 && <RunCheckpointTable runs={list.checkpoints} />}
    </div>
  );
}
