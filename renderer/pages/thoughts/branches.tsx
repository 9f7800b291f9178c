import { formatRoute } from '../../base/routes.ts';
import { percent } from '../../components/format.ts';
import type { Branch } from '../../episodes/thought-tree.ts';
import styles from './branches.module.css';

interface BranchesProps {
  branches: readonly Branch[];
  /** Number of episodes in the iteration. */
  total: number;
  runId: string;
  /** Returns an episode that starts with the branch's words. */
  episodeOf: (branch: Branch) => string | null;
  label?: string;
}

/** Draws branches: the height is the frequency, continuations are to the right. Nested lists make the tree accessible. */
export function Branches({ branches, label, ...tree }: BranchesProps) {
  return (
    <ul className={`${styles.branches} column`} aria-label={label}>
      {branches.map((branch) => (
        <li key={`${branch.opening} ${branch.text}`} className={styles.branch} style={{ flexGrow: branch.count }}>
          <Box branch={branch} {...tree} />
          {branch.branches.length > 0 && <Branches branches={branch.branches} {...tree} />}
        </li>
      ))}
    </ul>
  );
}

function Box({ branch, total, runId, episodeOf }: Omit<BranchesProps, 'branches' | 'label'> & { branch: Branch }) {
  const { text, more, count, successes, opening, whole, branches } = branch;
  const share = count > 0 ? successes / count : 0;
  const content = (
    <>
      <span className={styles.text}>
        {text}
        {more && <span className={styles.more}> {more}</span>}
      </span>
      <span className={styles.figures}>
        <span>
          {count}
          <span className="visually-hidden"> of {total} episodes,</span>
        </span>
        <span>
          {percent(share, 0)}
          <span className="visually-hidden"> success rate</span>
        </span>
      </span>
      <span className={styles.success} style={{ width: `${100 * share}%` }} aria-hidden="true" />
    </>
  );
  const props = {
    className: styles.box,
    'data-size': count >= total / 3 ? 'large' : undefined,
    'data-leaf': branches.length === 0 || undefined,
    style: { '--share': `${100 * share}%` } as React.CSSProperties,
  };
  const episodeId = opening === null ? null : episodeOf(branch);
  if (episodeId === null) return <div {...props}>{content}</div>;
  return (
    <a
      {...props}
      href={formatRoute({ page: 'replay', runId, episodeId, thought: { text: opening!, whole } })}
      title={`${opening}\n${count} of ${total}, ${percent(share, 0)} successful`}
    >
      {content}
    </a>
  );
}
