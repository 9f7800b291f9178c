interface Column {
  title: string;
  /** Whether to right-align numbers. */
  numeric?: boolean;
  /** Whether to show the title to screen readers only. */
  hidden?: boolean;
}

/** Returns a column of numbers. */
export const numeric = (title: string): Column => ({ title, numeric: true });

/** The column of row actions. */
export const actions: Column = { title: 'Actions', hidden: true };

/** Shows the header row of a table. */
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
