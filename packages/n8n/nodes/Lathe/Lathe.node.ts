import type {
  IDataObject,
  IExecuteFunctions,
  ILoadOptionsFunctions,
  INodeExecutionData,
  INodePropertyOptions,
  INodeType,
  INodeTypeDescription,
} from 'n8n-workflow';
import { jsonParse, NodeConnectionTypes, NodeOperationError, UserError } from 'n8n-workflow';
import { requestJson, ServiceError } from './api';
import { properties } from './description';
import { type Input, type Job, perform, type Result, waitForJob } from './perform';

/** Converts, compresses and merges files, and runs jobs. */
export class Lathe implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Lathe',
    name: 'lathe',
    icon: { light: 'file:../../icons/lathe.svg', dark: 'file:../../icons/lathe.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Convert, compress and merge files',
    defaults: { name: 'Lathe' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'latheApi', required: true }],
    properties,
  };

  methods = {
    loadOptions: {
      /** Lists the output formats of the service, without their other names. */
      async getOutputFormats(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
        const list = await requestJson<FormatList>(this, '/v1/query/formats/convert', { query: { input_format: '*' } });
        return outputFormatsIn(list);
      },
    },
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData();
    const resource = this.getNodeParameter('resource', 0);
    const operation = this.getNodeParameter('operation', 0);
    if (resource === 'file' && operation === 'merge') {
      const all = items.map((_item, index) => index);
      return [await attempt(this, all, () => mergeItems(this, all))];
    }
    const outputs: INodeExecutionData[] = [];
    for (const index of items.keys()) {
      const run = () => (resource === 'file' ? processItem(this, operation, index) : runJob(this, operation, index));
      outputs.push(...(await attempt(this, [index], run)));
    }
    return [outputs];
  }
}

interface FormatList {
  formats: Array<{ ext: string; media_type: string; alias_of?: string }>;
}

function outputFormatsIn({ formats }: FormatList): INodePropertyOptions[] {
  return formats
    .filter(({ alias_of: isAliasOf }) => isAliasOf === undefined)
    .map(({ ext, media_type: type }) => ({ name: ext.toUpperCase(), value: ext, description: type }));
}

/** Runs work on items. An error ends the execution, or becomes an item if the node continues on fail. */
async function attempt(
  context: IExecuteFunctions,
  indexes: number[],
  work: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
  const pairedItem = indexes.map((item) => ({ item }));
  try {
    return (await work()).map((item) => ({ ...item, pairedItem }));
  } catch (error) {
    const problem = error instanceof Error ? error : new Error(String(error));
    if (context.continueOnFail()) return [{ json: { error: problem.message }, pairedItem }];
    throw new NodeOperationError(context.getNode(), problem, {
      message: problem.message,
      description: adviceFor(problem),
      itemIndex: indexes[0] ?? 0,
    });
  }
}

function adviceFor(error: Error): string | undefined {
  const status = error instanceof ServiceError ? error.status : undefined;
  if (status === 401) return 'Check the API key of the credentials.';
  if (status === 403) return 'Use a key with the scopes read and process, and with limits that allow this.';
  if (status === 422) return 'The file cannot be converted. Check its content, or set Input Format.';
  return undefined;
}

/** Converts or compresses the file of an item. */
async function processItem(
  context: IExecuteFunctions,
  operation: string,
  index: number,
): Promise<INodeExecutionData[]> {
  const { inputFormat, timeout } = additionalFields(context, index);
  const isConversion = operation === 'convert';
  const parameters = {
    ...(isConversion && { output_format: outputFormat(context, index) }),
    ...(inputFormat && { input_format: inputFormat }),
    options: jsonParameter(context, 'conversionOptions', index),
  };
  const input = await inputOf(context, index);
  const result = await perform(
    context,
    input,
    { operation: isConversion ? 'convert' : 'compress', parameters },
    timeout,
  );
  return itemsOf(context, result, index);
}

/** Merges the files of items into one. */
async function mergeItems(context: IExecuteFunctions, indexes: number[]): Promise<INodeExecutionData[]> {
  const files = await Promise.all(indexes.map((index) => fileOf(context, index)));
  const parameters = {
    output_format: context.getNodeParameter('mergedFormat', 0),
    options: jsonParameter(context, 'conversionOptions', 0),
  };
  const { timeout } = additionalFields(context, 0);
  return itemsOf(context, await perform(context, { files }, { operation: 'merge', parameters }, timeout), 0);
}

/** Creates, gets or waits for a job. */
async function runJob(context: IExecuteFunctions, operation: string, index: number): Promise<INodeExecutionData[]> {
  if (operation === 'create') {
    const fields = context.getNodeParameter('jobFields', index, {});
    const json = { ...Object(fields), tasks: jsonParameter(context, 'tasks', index) };
    return [{ json: await requestJson(context, '/v1/process/jobs', { method: 'POST', json, retry: false }) }];
  }
  const id = String(context.getNodeParameter('jobId', index)).trim();
  if (!/^[0-9a-f]{24}$/.test(id)) throw new UserError(`Expected the ID of a job for Job ID but received "${id}".`);
  if (operation === 'get') return [{ json: await requestJson(context, `/v1/process/jobs/${id}`) }];
  const job: Job = await waitForJob(context, id, Number(context.getNodeParameter('timeout', index)));
  return [{ json: { ...job } }];
}

async function inputOf(context: IExecuteFunctions, index: number): Promise<Input> {
  if (context.getNodeParameter('source', index) === 'binary') return { files: [await fileOf(context, index)] };
  const url = String(context.getNodeParameter('url', index)).trim();
  if (!/^https?:\/\//i.test(url))
    throw new UserError(`Expected a URL with http or https for URL but received "${url}".`);
  return { url };
}

async function fileOf(context: IExecuteFunctions, index: number): Promise<{ name: string; content: Buffer }> {
  const field = String(context.getNodeParameter('binaryPropertyName', index));
  const { fileName } = context.helpers.assertBinaryData(index, field);
  return { name: fileName ?? 'file', content: await context.helpers.getBinaryDataBuffer(index, field) };
}

function outputFormat(context: IExecuteFunctions, index: number): string {
  const format = String(context.getNodeParameter('outputFormat', index)).trim();
  if (format === '') throw new UserError('Expected a format such as webp for Output Format but received none.');
  return format;
}

function jsonParameter(context: IExecuteFunctions, name: string, index: number): IDataObject {
  const value = context.getNodeParameter(name, index);
  if (typeof value !== 'string') return { ...Object(value) };
  return jsonParse<IDataObject>(value.trim() || '{}', {
    errorMessage: `Expected JSON for ${name === 'tasks' ? 'Tasks' : 'Conversion Options'} but received ${value}.`,
  });
}

function additionalFields(context: IExecuteFunctions, index: number) {
  const fields: IDataObject = context.getNodeParameter('additionalFields', index, {});
  return {
    inputFormat: String(fields.inputFormat ?? '').trim(),
    outputPropertyName: String(fields.outputPropertyName || 'data'),
    timeout: Number(fields.timeout ?? 3600),
  };
}

/** Returns an item for each file of a result. */
function itemsOf(
  context: IExecuteFunctions,
  { files, warnings }: Result,
  index: number,
): Promise<INodeExecutionData[]> {
  const { outputPropertyName } = additionalFields(context, index);
  return Promise.all(
    files.map(async ({ name, type, content }) => ({
      json: { fileName: name, mediaType: type, bytes: content.length, warnings },
      binary: { [outputPropertyName]: await context.helpers.prepareBinaryData(content, name, type) },
    })),
  );
}
