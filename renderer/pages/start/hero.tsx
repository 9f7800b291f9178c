import { type FormEvent, useId, useState } from 'react';
import type { PresetCard, Settings } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute, type Route } from '../../base/routes.ts';
import { Button } from '../../components/basics.tsx';
import { EstimatedTime } from '../../components/estimated-time.tsx';
import { Icon } from '../../components/icon.tsx';
import { isDeviceInUse } from '../../components/run-facts.ts';
import type { StartRun } from '../../components/start-run.tsx';
import { trainFrom } from '../../components/train-from.ts';
import { useApp } from '../../stores/app-store.ts';
import { useQuery } from '../../stores/use-query.ts';
import { useWriteLock } from '../../stores/write-access.ts';
import styles from './hero.module.css';
import { HeroBoards } from './hero-boards.tsx';
import { Illustration } from './illustration.tsx';
import { settingsToText, withFixedSpaces } from './preset-card.tsx';

const mainSettings = [
  { path: 'iterations', title: 'Iterations' },
  { path: 'seed', title: 'Seed' },
  { path: 'optimizer.learning_rate', title: 'Learning rate' },
  { path: 'rollout.groups', title: 'Prompts per iteration' },
] as const;

interface HeroProps {
  card: PresetCard;
  /** Presets with the same task for published models. */
  published: readonly PresetCard[];
  run: StartRun;
  blocked: boolean;
  /** Label of the button while the trainer is being built. */
  building: string | null;
  /** Settings chosen for the whole page. */
  set: Settings;
}

/** Shows the main preset with its most important settings. */
export function Hero({ card, published, run, blocked, building, set }: HeroProps) {
  const lock = useWriteLock();
  const [typed, setTyped] = useState<Record<string, string>>({});
  const changed = Object.fromEntries(
    Object.entries(typed).filter(([path, text]) => text !== String(card.first[path] ?? '')),
  );
  const request = {
    source: { preset: card.id },
    set: { ...set, ...changed },
    title: card.title,
    device: card.device,
  };
  const deviceInUse = useApp(({ runs, system }) => isDeviceInUse(runs, card.device, system));
  const busy = run.busy?.title === card.title ? run.busy.how : null;
  const form = { from: { preset: card.id }, set: settingsToText(request.set) };
  const checked = Object.keys(request.set).length > 0 ? { ...request.source, set: request.set, titles: true } : null;
  const check = useQuery('configs.check', checked, 250);
  const presets = useApp((state) => state.presets) ?? [];
  const models = useQuery('models.list', { checkpoints: false }, 0).value?.models ?? [];
  const others = models.filter(
    (model) =>
      model.source !== 'starter' &&
      !published.some((each) => each.model?.name === model.name) &&
      trainFrom(model, presets),
  );
  /** Returns the form for a published model (a preset) or a model folder. */
  function formOf(chosen: string): Route {
    const other = others.find(({ folder }) => folder === chosen);
    const route = other && trainFrom(other, presets);
    if (route) return { ...route, set: { ...settingsToText(set), ...route.set } };
    return { page: 'new', from: { preset: chosen }, set: settingsToText(set) };
  }
  const problemId = useId();
  const problem = (check.fresh && check.value?.problems[0]) || null;
  const time = checked === null ? card.time : (check.value?.time ?? null);

  function submit(event: FormEvent): void {
    event.preventDefault();
    run.start(request);
  }

  return (
    <article className={`panel ${styles.hero}`} aria-labelledby="hero">
      <div className={styles.picture}>
        <HeroBoards family={card.family}>
          <Illustration environments={card.environments} />
        </HeroBoards>
      </div>
      <form className={`${styles.body} column`} onSubmit={submit} data-starts-run>
        <div>
          <h2 id="hero">Watch it learn: {card.title}</h2>
          <p className={styles.summary}>{card.summary}</p>
          <p className={styles.aim}>
            <span className="faint">Expected:</span> {withFixedSpaces(card.expects)}
          </p>
          <p className={styles.aim}>
            <span className="faint">Algorithm:</span> {card.algorithm}
          </p>
        </div>
        <div className={`${styles.settings} wrap`}>
          {mainSettings.map(({ path, title }) => (
            <label key={path}>
              <span>{title}</span>
              <input
                className={styles.value}
                inputMode="decimal"
                autoComplete="off"
                value={typed[path] ?? String(card.first[path] ?? '')}
                data-changed={path in changed || undefined}
                aria-invalid={problem?.path === path || undefined}
                aria-describedby={problem?.path === path ? problemId : undefined}
                onChange={({ target }) => setTyped({ ...typed, [path]: target.value.trim() })}
              />
            </label>
          ))}
          {published.length > 0 && (
            <label className={styles.model}>
              <span>Model</span>
              <select
                className={styles.value}
                value={card.id}
                onChange={({ target }) => navigate(formOf(target.value))}
              >
                <option value={card.id}>Starter, 1M</option>
                {published.map(({ id, model }) => (
                  <option key={id} value={id}>
                    {model?.title}, on a GPU…
                  </option>
                ))}
                {others.map(({ name, folder }) => (
                  <option key={folder} value={folder}>
                    {name}…
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
        <p id={problemId} className={styles.problem} role="status">
          {problem?.message}
        </p>
        <div className={`${styles.foot} row wrap`}>
          <button
            type="submit"
            className={`button ${styles.start}`}
            data-kind="primary"
            disabled={run.busy !== null || blocked}
            aria-label={`Start ${card.title}, ${card.algorithm}`}
            {...lock}
          >
            <Icon name="play" size={16} />
            {busy === 'start' ? 'Starting…' : (building ?? 'Start')}
          </button>
          {deviceInUse && (
            <Button
              writes
              icon="queue"
              onClick={() => run.queue(request)}
              disabled={run.busy !== null || blocked}
              label={`Add to queue: ${card.title}, ${card.algorithm}`}
            >
              Add to queue
            </Button>
          )}
          <a className="button" href={formatRoute({ page: 'new', ...form })}>
            <Icon name="settings" size={14} /> Configure
          </a>
          <a className="button" href={formatRoute({ page: 'new', ...form, study: true })}>
            <Icon name="study" size={14} /> New sweep
          </a>
          <span className="muted small">{problem === null && <EstimatedTime time={time} />}</span>
        </div>
      </form>
    </article>
  );
}
