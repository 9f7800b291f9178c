/** Returns path and content of every file generated from `starpo-trainer schema`. `read` returns a repository file by its path. */
export function descriptionFiles(schema, read) {
  const { metrics, evaluation_metrics: evaluationMetrics, events, ...config } = schema;
  return {
    'core/run-config/description.json': json({
      ...config,
      fields: config.fields.map(forCore),
      environments: Object.fromEntries(
        Object.entries(config.environments).map(([type, fields]) => [type, fields.map(forCore)]),
      ),
    }),
    'core/run-config/run-config.ts': types(config.fields),
    'core/run-directory/description.json': json({ metrics, evaluationMetrics }),
    'docs/formats/run-config.md': withTable(
      withTable(read('docs/formats/run-config.md'), 'keys', keysTable(config.fields)),
      'environments',
      environmentsTable(config.environments),
    ),
    'docs/formats/metrics.md': withTable(
      read('docs/formats/metrics.md'),
      'metrics',
      metricsTable(metrics, evaluationMetrics),
    ),
    'docs/formats/journal.md': withTable(read('docs/formats/journal.md'), 'events', eventsTable(events)),
    'docs/formats/examples/run.json': upToDate(
      JSON.parse(read('docs/formats/examples/run.json')),
      JSON.parse(read('core/run-config/options.json')).upgrades,
      config.fields,
    ),
  };
}

/** Drops the texts, which only the documentation uses. */
const forCore = ({ nullable: _, meaning: __, ...field }) => field;

/** One element per line, for readable diffs. */
function json(value) {
  const entries = Object.entries(value).map(([key, part]) => {
    if (Array.isArray(part)) return `  ${JSON.stringify(key)}: ${lines(part, '    ', '  ')}`;
    if (typeof part !== 'object') return `  ${JSON.stringify(key)}: ${JSON.stringify(part)}`;
    const inner = Object.entries(part).map(
      ([name, list]) => `    ${JSON.stringify(name)}: ${lines(list, '      ', '    ')}`,
    );
    return `  ${JSON.stringify(key)}: {\n${inner.join(',\n')}\n  }`;
  });
  return `{\n${entries.join(',\n')}\n}\n`;
}

const lines = (list, indent, end) =>
  `[\n${list.map((element) => indent + JSON.stringify(element)).join(',\n')}\n${end}]`;

/** Returns the configuration's TypeScript types: one object per path prefix. */
function types(fields) {
  const tree = {};
  for (const field of fields) {
    const names = field.path.replaceAll('[]', '.[]').split('.');
    let branch = tree;
    for (const name of names.slice(0, -1)) {
      if (!branch[name] || 'path' in branch[name]) branch[name] = {};
      branch = branch[name];
    }
    branch[names.at(-1)] = field;
  }
  const environment = tree.environments['[]'];
  tree.environments = { path: 'environments', type: 'environments' };
  const head =
    '/** Written by `npm run describe` from what the trainer says of run.json; docs/formats/run-config.md explains it. */\n';
  const first = `export interface EnvironmentConfig ${type(environment, '')}\n`;
  return `${head}\n${first}\nexport interface RunConfig ${type(tree, '')}\n`;
}

function type(branch, indent) {
  const members = Object.entries(branch).map(([name, entry]) => {
    const inner = typeof entry.path === 'string' ? leafType(entry) : type(entry, `${indent}  `);
    return `${indent}  ${name}: ${inner};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function leafType({ path, type: kind, choices }) {
  // The environments' registry decides which types exist.
  if (path === 'environments[].type') return 'string';
  if (kind === 'choice') return choices.map((choice) => `'${choice}'`).join(' | ');
  const plain = { integer: 'number', number: 'number', boolean: 'boolean', string: 'string' };
  return plain[kind] ?? (kind === 'environments' ? 'EnvironmentConfig[]' : 'Record<string, unknown>');
}

function withTable(page, name, table) {
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->\n`];
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page has no markers for its table of ${name}.`);
  return page.slice(0, from + start.length) + table + page.slice(to);
}

const cell = (text) => text.replaceAll('|', '\\|');

function keysTable(fields) {
  const rows = fields.map(
    (field) => `| \`${field.path}\` | ${field.type} | ${cell(range(field))} | ${cell(field.meaning)} |\n`,
  );
  return `| path | type | range | meaning |\n|---|---|---|---|\n${rows.join('')}`;
}

/** Without meanings: the page explains them. */
function environmentsTable(environments) {
  const rows = Object.entries(environments).flatMap(([type, fields]) =>
    fields.map((field) => `| \`${type}\` | \`${field.path}\` | ${field.type} | ${cell(range(field))} |\n`),
  );
  return `| environment | key | type | range |\n|---|---|---|---|\n${rows.join('')}`;
}

function range({
  path,
  type: kind,
  minimum,
  maximum,
  choices,
  pattern,
  min_length: shortest,
  max_length: longest,
}) {
  if (kind === 'choice') return choices.map((choice) => `\`${choice}\``).join(', ');
  if (path === 'version') return `${minimum}`;
  if (minimum !== undefined) return minimum === maximum ? `${minimum}` : `${minimum}..${maximum}`;
  const form = pattern ? `\`${pattern.slice(1, -1)}\`` : '';
  const length = longest === undefined ? '' : `${shortest ?? 0} to ${longest} characters`;
  if (form || length) return [form, length].filter(Boolean).join(', ');
  return shortest ? 'not empty' : kind === 'object' ? 'see below' : '';
}

function metricsTable(metrics, evaluationMetrics) {
  const row = (name, unit, meaning) => `| \`${name}\` | ${unit || '-'} | ${cell(meaning)} |\n`;
  const rows = metrics.map(({ name, unit, meaning }) => row(name, unit, meaning));
  const ofEvaluation = evaluationMetrics.map(({ name, unit, meaning }) =>
    row(`evaluation/<label>/${name}`, unit, meaning),
  );
  return `| name | unit | what it is |\n|---|---|---|\n${rows.join('')}${ofEvaluation.join('')}`;
}

function eventsTable(events) {
  const field = ({ name, note }) => `\`${name}\`${note && ` (${note})`}`;
  const rows = events.map(
    ({ name, fields, when }) => `| \`${name}\` | ${cell(fields.map(field).join(', '))} | ${cell(when)} |\n`,
  );
  return `| type | fields | when |\n|---|---|---|\n${rows.join('')}`;
}

/** Returns the example with missing keys added by the upgrades, in the description's order. */
function upToDate(example, upgrades, fields) {
  for (const { to, changes } of upgrades) {
    if (example.version !== to - 1) continue;
    for (const { path, set } of changes) {
      const names = path.split('.');
      const holder = names.slice(0, -1).reduce((object, name) => object[name], example);
      holder[names.at(-1)] ??= set;
    }
    example.version = to;
  }
  const sections = [...new Set(fields.map(({ path }) => path.split(/[.[]/)[0]))];
  const lines = sections.map((name) => `  ${JSON.stringify(name)}: ${shown(example[name])}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Formats a value, with short objects on one line. */
function shown(value, indent = '  ') {
  const line = inOneLine(value);
  if (typeof value !== 'object' || line.length + indent.length <= 130) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return `[\n${value.map((part) => inner + shown(part, inner)).join(',\n')}\n${indent}]`;
  const members = Object.entries(value).map(
    ([key, part]) => `${inner}${JSON.stringify(key)}: ${shown(part, inner)}`,
  );
  return `{\n${members.join(',\n')}\n${indent}}`;
}

function inOneLine(value) {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Object.keys(value).length === 0) return '{}';
  return `{ ${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}: ${inOneLine(part)}`)
    .join(', ')} }`;
}
