import { unknownFormat } from '../../../shared/catalogue/check.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { invalidFields } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { describeFormat } from './describe-format.ts';
import { knownOperation } from './known-operation.ts';

export const handler = publicEndpoint(routes['query-formats'], async ({ params, query }) => {
  const operation = knownOperation(params.operation);
  const { input_format: from, output_format: to } = query;
  for (const [name, ext = '*'] of Object.entries({ input_format: from, output_format: to })) {
    const problem = ext === '*' ? undefined : unknownFormat(catalogue, ext);
    if (problem !== undefined) throw invalidFields({ [name]: [problem] }, 'unsupported_format');
  }
  const formats =
    from !== undefined
      ? catalogue.outputs(operation, from === '*' ? from : catalogue.canonical(from))
      : to !== undefined
        ? catalogue.inputs(operation, to === '*' ? to : catalogue.canonical(to))
        : [...new Set([...catalogue.inputs(operation, '*'), ...catalogue.outputs(operation, '*')])].sort();
  return { body: { formats: formats.map(describeFormat) } };
});
