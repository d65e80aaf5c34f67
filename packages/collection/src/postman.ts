import type { ApiRequest, Field } from './requests.ts';

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Returns the files of a Postman collection (v2.1) and its environment by their paths. */
export function postmanCollection(requests: ApiRequest[]): Record<string, string> {
  const folders = Map.groupBy(requests, ({ folder }) => folder);
  const collection = {
    info: { name: 'Lathe', schema },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    item: [...folders].map(([name, members]) => ({ name, item: members.map(itemOf) })),
  };
  const environment = {
    name: 'Lathe, local',
    values: [
      { key: 'url', value: 'http://localhost:3000', type: 'default', enabled: true },
      { key: 'key', value: '', type: 'secret', enabled: true },
    ],
    _postman_variable_scope: 'environment',
  };
  return {
    'lathe.postman_collection.json': `${JSON.stringify(collection, undefined, 2)}\n`,
    'local.postman_environment.json': `${JSON.stringify(environment, undefined, 2)}\n`,
  };
}

function itemOf({ name, method, path, hasKey, pathFields, queryFields, headers, body, saved }: ApiRequest) {
  const sent = queryFields.flatMap((field) => (field.isSent ? [`${field.name}=${field.value}`] : []));
  const template = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return {
    name,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: scriptOf(saved) } }],
    request: {
      method,
      ...(hasKey ? {} : { auth: { type: 'noauth' } }),
      header: headers.map(entryOf),
      url: {
        raw: `{{url}}${template}${sent.length > 0 ? `?${sent.join('&')}` : ''}`,
        host: ['{{url}}'],
        path: template.slice(1).split('/'),
        query: queryFields.map(entryOf),
        variable: pathFields.map(({ name: key, value }) => ({ key, value })),
      },
      ...bodyOf(body),
    },
  };
}

function entryOf({ name: key, value, description, isSent }: Field) {
  return { key, value, disabled: !isSent, ...(description && { description }) };
}

function bodyOf(body: ApiRequest['body']) {
  if (!body) return {};
  if (body.type === 'json') {
    const raw = JSON.stringify(body.content, undefined, 2);
    return { body: { mode: 'raw', raw, options: { raw: { language: 'json' } } } };
  }
  const fields = body.fields.map(({ name: key, value }) => ({ key, value, type: 'text' }));
  return { body: { mode: 'formdata', formdata: [{ key: 'file', src: body.file, type: 'file' }, ...fields] } };
}

function scriptOf(saved: ApiRequest['saved']): string[] {
  const sets = Object.entries(saved).map(
    ([variable, path]) =>
      `pm.environment.set('${variable}', pm.response.json().${path.replaceAll(/\.(\d+)/g, '[$1]')});`,
  );
  return ["pm.test('succeeds', () => pm.expect(pm.response.code).to.be.below(300));", ...sets];
}
