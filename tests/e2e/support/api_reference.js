// The tables of docs/reference/api.md, made from /openapi.json.
const FORM = 'application/x-www-form-urlencoded';
const MANY = 10; // a refusal that more operations than this can give is listed once, in a separate table
const COLUMNS = 120;
const GROUPS = { packets: 'Packets', records: 'Records', wallet: 'Wallet', account: 'Account', money: 'Programs of the operator', service: 'The service' };

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (...cells) => `| ${cells.map(cell).join(' | ')} |`;
const table = (head, rows) => (rows.length === 0 ? [] : [row(...head), `|${'---|'.repeat(head.length)}`, ...rows.map((one) => row(...one)), '']);

function wrapped(text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > COLUMNS) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}

// The values that a field can have, in words.
function values({ type, enum: words, minimum, maximum, minLength, maxLength, format, pattern }) {
  if (words) return words.map((word) => `\`${word}\``).join(', ');
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) return `number, ${minimum} to ${maximum}`;
  if (type === 'integer') return maximum === undefined ? `number from ${minimum ?? 0}` : `number, at most ${maximum}`;
  if (format === 'date') return 'day';
  if (pattern?.includes('[.]')) return 'amount';
  if (pattern) return `\`${pattern}\``;
  return maxLength === undefined ? 'text' : `text, ${minLength ?? 0} to ${maxLength}`;
}

// The fields of the form and of the query: [[name, values, meaning], …].
function fields({ requestBody, parameters = [] }) {
  const form = requestBody?.content[FORM]?.schema ?? { properties: {} };
  const inForm = Object.entries(form.properties).map(([name, schema]) => [name, schema, schema.description, form.required?.includes(name)]);
  const inQuery = parameters.filter((one) => one.in === 'query').map(({ name, schema, description }) => [name, schema, description, false]);
  return [...inForm, ...inQuery].map(([name, schema, says, required]) => [`\`${name}\``, values(schema), `${required ? 'required; ' : ''}${says}`]);
}

// The refusals of an operation: [{ status, type, says }]. A description is "`type`: says; `type`: says".
function refusals({ responses }) {
  return Object.entries(responses).flatMap(([status, { description, content }]) => {
    const types = content?.['application/problem+json']?.schema.allOf[1].properties.type.enum.map((urn) => urn.split(':').pop()) ?? [];
    let rest = description;
    return types.map((type, i) => {
      const from = rest.indexOf(`\`${type}\`: `) + type.length + 4;
      const end = i + 1 < types.length ? rest.indexOf(`; \`${types[i + 1]}\`: `, from) : rest.length;
      const says = rest.slice(from, end);
      rest = rest.slice(end);
      return { status, type, says };
    });
  });
}

function answers({ responses }) {
  return Object.entries(responses).filter(([, { content }]) => !content?.['application/problem+json']).map(([status, { description, content = {} }]) => {
    const [media] = Object.keys(content);
    const schema = content[media]?.schema.$ref?.split('/').pop();
    const what = schema ?? (media && media !== 'application/json' ? media : undefined);
    return [what ? `${status} \`${what}\`` : status, description];
  });
}

// Who may call it.
function callers({ security }) {
  const scopes = security.flatMap(({ token }) => token ?? []);
  const [service] = security.flatMap((one) => one.service ?? []);
  if (service) return `With a service token for \`${service}\`.`;
  const needs = [security.some(({ session }) => session) && 'a session', scopes.length > 0 && `a token for \`${scopes.join(' ')}\``].filter(Boolean);
  if (needs.length === 0) return 'Open to everybody.';
  return security.some((one) => Object.keys(one).length === 0) ? `Open to everybody; also with ${needs.join(' or ')}.` : `With ${needs.join(' or ')}.`;
}

// The Markdown behind the part of docs/reference/api.md that is written by hand.
export function reference(doc) {
  const order = ({ tags: [group] }) => Object.keys(GROUPS).indexOf(group);
  const operations = Object.entries(doc.paths).flatMap(([path, methods]) => Object.entries(methods)
    .map(([method, operation]) => ({ route: `\`${method.toUpperCase()} ${path}\``, ...operation }))).sort((a, b) => order(a) - order(b));
  const key = ({ status, type, says }) => `${status} \`${type}\`: ${says}`;
  const counts = new Map();
  for (const one of operations.flatMap(refusals)) counts.set(key(one), { ...one, count: (counts.get(key(one))?.count ?? 0) + 1 });
  const isCommon = (one) => counts.get(key(one)).count > MANY;
  const common = [...counts.values()].filter(isCommon).sort((a, b) => a.status - b.status);
  const leadsOnly = ({ responses }) => Object.keys(responses).filter((status) => status < 400).join() === '303';
  const anchor = (route) => route.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');

  const section = (operation) => {
    const name = ({ status, type }) => `${status} \`${type}\``;
    const own = refusals(operation).filter((one) => !isCommon(one)).map((one) => [name(one), one.says]);
    const also = refusals(operation).filter(isCommon).map(name).filter((one) => !own.some(([named]) => named === one));
    return [`### ${operation.route}`, '', ...wrapped(`${operation.summary}. ${callers(operation)}`), '',
      ...table(['field', 'values', 'meaning'], fields(operation)), ...table(['answer', 'meaning'], [...answers(operation), ...own]),
      ...(also.length > 0 ? [...wrapped(`Also ${also.join(', ')}.`), ''] : [])];
  };
  return [
    '## Routes', '', ...table(['route', 'what it does'],
      operations.filter((one) => !leadsOnly(one)).map(({ route, summary }) => [`[${route}](#${anchor(route)})`, summary])),
    '## Refusals of many routes', '', ...table(['refusal', 'meaning'], common.map(({ status, type, says }) => [`${status} \`${type}\``, says])),
    ...Object.entries(GROUPS).flatMap(([tag, title]) => {
      const group = operations.filter(({ tags }) => tags.includes(tag));
      return [`## ${title}`, '', ...group.filter((one) => !leadsOnly(one)).flatMap(section),
        ...table(['address of a form, reloaded', 'answer'], group.filter(leadsOnly).map(({ route, summary }) => [route, summary]))];
    }),
  ].join('\n').trimEnd().concat('\n');
}
