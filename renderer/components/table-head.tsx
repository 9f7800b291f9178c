interface Column {
  title: string;
  /** Whether to right-align numbers. */
  numeric?: boolean;
  /** Whether to show the title to screen readers only. */
  hidden?: boolean;
}

export const numeric = (title: string): Column => ({ title, numeric: true });

export const actions: Column = { title: 'Actions', hidden: true };

export function TableHead({ columns }: { columns: readonly (string | Column)[] }) {
  return (
    <thead>
      <tr>
        {columns
          .map((column): Column => (typeof column === 'string' ? { title: column } : column))
          .map(({ title, numeric: right, hidden }) => (
            <th key={title} scope="col" className={right ? 'numeric' : undefined}>
              {hidden ? <span className="visually-hidden">{title}</span> : title}
            </th>
          ))}
      </tr>
    </thead>
  );
}
