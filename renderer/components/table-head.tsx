interface Column {
  title: string;
  /** Numbers stand to the right, one below the other. */
  numeric?: boolean;
  /** The title is for the ear alone: what stands below speaks for itself. */
  hidden?: boolean;
}

/** A column of numbers. */
export const numeric = (title: string): Column => ({ title, numeric: true });

/** The column of what can be done with each row. */
export const actions: Column = { title: 'What can be done', hidden: true };

/** The titles of a table's columns, in order. */
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
