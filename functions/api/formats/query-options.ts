import { checkProcessing } from '../../../shared/catalogue/check.ts';
import { outputFormatOf } from '../../../shared/operations/operations.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { invalidFields } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { knownOperation } from './known-operation.ts';

export const handler = publicEndpoint(routes['query-options'], async ({ params, query }) => {
  const operation = knownOperation(params.operation);
  const source = query.input_format ?? (operation === 'merge' ? 'jpg' : undefined);
  if (source === undefined)
    throw invalidFields({ input_format: ['Expected the extension of the input.'] }, 'unsupported_format');
  const byDefault = operation === 'convert' || operation === 'merge' ? undefined : source;
  const target = outputFormatOf(operation, query.output_format, byDefault);
  if (target === undefined)
    throw invalidFields({ output_format: ['Expected the extension of the output.'] }, 'unsupported_format');
  const checked = checkProcessing(catalogue, { operation, inputFormat: source, outputFormat: target, options: {} });
  if ('errors' in checked) throw invalidFields(checked.errors, checked.reason);
  return {
    body: {
      sourceExt: catalogue.canonical(source),
      targetExt: catalogue.canonical(target),
      operation,
      options: (checked.match?.capability.options ?? []).map((option) => ({
        ...option,
        default_value: option.default_value ?? '',
        type: option.type ?? option.data_type,
        conditions: option.conditions ?? [],
      })),
    },
  };
});
