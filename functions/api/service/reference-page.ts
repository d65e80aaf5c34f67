import { required } from '../../../shared/settings.ts';
import { routes } from '../routes.ts';
import { openapiDocument } from './openapi-document.ts';

type Json = Record<string, unknown>;

/** Renders the API reference as one self-contained page: every endpoint, its parameters, body, responses and a curl line. */
export function referencePage(): string {
  const document = openapiDocument();
  const operations = Object.entries(objectOf(document.paths)).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: objectOf(operation),
    })),
  );
  const tags = [...new Set(Object.values(routes).map((route) => route.tag))];
  const schemas = objectOf(objectOf(document.components).schemas);
  const ofTag = (tag: string) =>
    operations.filter(({ operation }) => Array.isArray(operation.tags) && operation.tags.includes(tag));
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Lathe API reference</title><style>${style}</style></head>
<body>
<nav><h1>Lathe</h1>${tags
    .map(
      (tag) =>
        `<h2>${text(tag)}</h2><ul>${ofTag(tag)
          .map(
            ({ method, operation }) =>
              `<li><a href="#${text(operation.operationId)}"><b class="${method}">${method}</b> ${text(operation.summary)}</a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('')}<h2>Schemas</h2><ul>${Object.keys(schemas)
    .map((name) => `<li><a href="#schema-${text(name)}">${text(name)}</a></li>`)
    .join('')}</ul></nav>
<main>
<p class="lead">The API root is <code>${text(required('LATHE_URL'))}</code>. Protected endpoints take <code>Authorization: Bearer &lt;API_KEY&gt;</code>. The same description for programs is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
${tags.map((tag) => `<h2>${text(tag)}</h2>${ofTag(tag).map(section).join('')}`).join('')}
<h2>Schemas</h2>
${Object.entries(schemas)
  .map(
    ([name, schema]) =>
      `<section id="schema-${text(name)}"><h3>${text(name)}</h3>${schemaBody(objectOf(schema))}</section>`,
  )
  .join('')}
</main></body></html>`;
}

function section({ path, method, operation }: { path: string; method: string; operation: Json }): string {
  const parameters = listOf(operation.parameters);
  const body = objectOf(objectOf(objectOf(objectOf(operation.requestBody).content)['application/json']).schema);
  const hasBody = operation.requestBody !== undefined;
  const protectedBy = listOf(operation.security).length > 0;
  const responses = Object.entries(objectOf(operation.responses));
  return `<section id="${text(operation.operationId)}"><h3><b class="${method}">${method}</b> <code>${text(path)}</code></h3><p>${text(operation.summary)}.${scopeOf(operation)}</p>
${
  parameters.length > 0
    ? table(
        ['Parameter', 'In', 'Type', 'Meaning'],
        parameters.map((parameter) => [
          `<code>${text(parameter.name)}</code>${parameter.required ? ' <em>required</em>' : ''}`,
          text(parameter.in),
          type(objectOf(parameter.schema)),
          text(parameter.description ?? ''),
        ]),
      )
    : ''
}
${hasBody && Object.keys(objectOf(body.properties)).length > 0 ? `<h4>Body</h4>${fields(body)}` : ''}
<h4>Responses</h4>${table(
    ['Status', 'Meaning', 'Body'],
    responses.map(([status, response]) => [
      status,
      text(objectOf(response).description),
      reference(objectOf(response)),
    ]),
  )}
<pre>${text(curl(method, path, protectedBy, hasBody))}</pre></section>`;
}

function scopeOf(operation: Json): string {
  const [scope] = listOf(operation.security).flatMap(({ key }) => (Array.isArray(key) ? key : []));
  return scope === undefined ? '' : ` Needs the scope <code>${text(scope)}</code>.`;
}

function fields(schema: Json): string {
  const needed = Array.isArray(schema.required) ? schema.required : [];
  return table(
    ['Field', 'Type', 'Meaning'],
    Object.entries(objectOf(schema.properties)).map(([name, property]) => [
      `<code>${text(name)}</code>${needed.includes(name) ? ' <em>required</em>' : ''}`,
      type(objectOf(property)),
      text(objectOf(property).description ?? ''),
    ]),
  );
}

function schemaBody(schema: Json): string {
  return schema.properties === undefined ? `<p>${type(schema)}</p>` : fields(schema);
}

function link(schema: Json): string | undefined {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return name && `<a href="#schema-${text(name)}">${text(name)}</a>`;
}

function type(schema: Json): string {
  const linked = link(schema);
  if (linked) return linked;
  if (Array.isArray(schema.oneOf)) return schema.oneOf.map((option) => type(objectOf(option))).join(' or ');
  if (schema.const !== undefined) return `<code>${text(schema.const)}</code>`;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `<code>${text(value)}</code>`).join(' ');
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((option) => type(objectOf(option))).join(' or ');
  if (schema.type === 'array') return `list of ${type(objectOf(schema.items))}`;
  const bounds = [
    schema.minimum === undefined ? '' : ` ≥ ${schema.minimum}`,
    typeof schema.maximum === 'number' && schema.maximum < Number.MAX_SAFE_INTEGER ? ` ≤ ${schema.maximum}` : '',
    schema.default === undefined ? '' : `, default <code>${text(JSON.stringify(schema.default))}</code>`,
  ].join('');
  return `${text(schema.type ?? 'any')}${bounds}`;
}

function reference(response: Json): string {
  const schema = objectOf(objectOf(objectOf(response.content)['application/json']).schema);
  const parts = [schema, ...listOf(schema.anyOf), ...listOf(schema.allOf)];
  return parts.flatMap((part) => link(part) ?? []).join(' or ');
}

function curl(method: string, path: string, protectedBy: boolean, hasBody: boolean): string {
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${required('LATHE_URL')}${path}`,
    ...(protectedBy ? ["  -H 'Authorization: Bearer <API_KEY>'"] : []),
    ...(hasBody ? ["  -H 'Content-Type: application/json' -d '{ … }'"] : []),
  ].join(' \\\n');
}

function table(heads: string[], rows: string[][]): string {
  if (rows.length === 0) return '<p>Nothing.</p>';
  return `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`;
}

function text(value: unknown): string {
  return String(value).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

const style = `
:root{color-scheme:light dark;--line:#8884;--dim:#777;--accent:#d35400}
*{box-sizing:border-box}body{margin:0;font:16px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:20rem 1fr}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem 1.25rem;border-right:1px solid var(--line);font-size:.85rem}
nav h1{margin:0;font-size:1.3rem;color:var(--accent)}nav h2{margin:1.1rem 0 .3rem;font-size:.75rem;text-transform:uppercase;letter-spacing:.06em;color:var(--dim)}
nav ul{list-style:none;margin:0;padding:0}nav li{margin:.2rem 0}nav a{text-decoration:none;color:inherit}nav a:hover{text-decoration:underline}
main{padding:1.5rem 2.5rem;max-width:62rem;min-width:0}section{padding:1.25rem 0;border-top:1px solid var(--line)}
h3{margin:0 0 .3rem;font-size:1.05rem}h4{margin:1rem 0 .3rem;font-size:.9rem}
b.GET,b.POST,b.DELETE{font:600 .72rem ui-monospace,monospace;padding:.1rem .35rem;border-radius:.25rem;color:#fff}
b.GET{background:#2471a3}b.POST{background:#1e8449}b.DELETE{background:#b03a2e}
table{width:100%;border-collapse:collapse;font-size:.88rem;margin:.4rem 0}th{text-align:left;font-weight:600;color:var(--dim)}th,td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
em{color:var(--accent);font-style:normal;font-size:.78rem}code,pre{font-family:ui-monospace,monospace;font-size:.86em}pre{padding:.8rem 1rem;border:1px solid var(--line);border-radius:.4rem;overflow:auto}
@media(max-width:60rem){body{grid-template-columns:1fr}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}}
`;
