import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, NotUnderstood, Properties } from './properties.ts';

/** A template as JSON, section by section. */
export type TemplateJson = Record<string, unknown>;

const nestedType = 'AWS::CloudFormation::Stack';
/** Metadata key for the nested template's file in the cloud assembly. */
const assetPath = 'aws:asset:path';

/**
 * Reads a synthesized template and merges the resources of its nested stacks. Parameters of a nested template are
 * replaced by the values that its stack passes, and outputs by their values.
 */
export function readFlattened(path: string): TemplateJson {
  const template: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isObject(template)) throw new NotUnderstood(`${path} is not a template.`);
  const all = sectionOf(template, 'Resources');
  const nested = Object.entries(all).filter(([, resource]) => isObject(resource) && resource.Type === nestedType);
  if (nested.length === 0) return template;
  const own = Object.fromEntries(
    Object.entries(all).filter(([, resource]) => !nested.some(([, it]) => it === resource)),
  );
  const resources: TemplateJson = {};
  const outputs: Outputs = new Map();
  for (const [id, declaration] of nested) {
    const { inner, given } = readNested(id, declaration, dirname(path));
    const values = parameterValues(id, inner, given);
    outputs.set(
      id,
      mapValues(sectionOf(inner, 'Outputs'), (output) => substitute(outputValue(output), values)),
    );
    add(
      resources,
      mapValues(sectionOf(inner, 'Resources'), (resource) => substitute(resource, values)),
    );
  }
  add(resources, own);
  const replaced = mapValues(resources, (resource) => withOutputs(resource, outputs));
  return {
    ...template,
    Resources: replaced,
    ...('Outputs' in template ? { Outputs: withOutputs(template.Outputs, outputs) } : {}),
  };
}

function readNested(id: string, declaration: unknown, folder: string): { inner: TemplateJson; given: TemplateJson } {
  const fields = new Properties(id, declaration);
  fields.pass('Known', 'Type');
  fields.pass(
    'Order of creation and fate at deletion, which CloudFormation sees to',
    'DependsOn',
    'UpdateReplacePolicy',
    'DeletionPolicy',
  );
  const metadata = fields.raw('Metadata');
  const file = isObject(metadata) ? metadata[assetPath] : undefined;
  if (typeof file !== 'string') throw new NotUnderstood(`${id} does not say which file its template is.`);
  const properties = fields.object('Properties');
  properties.pass('The same template, uploaded', 'TemplateURL');
  const given = properties.raw('Parameters');
  fields.finish();
  const inner = readFlattened(join(folder, file));
  const sections = new Properties(`Template of ${id}`, inner);
  sections.pass('Read by the caller', 'Parameters', 'Resources', 'Outputs');
  sections.pass('For people', 'Description');
  sections.finish();
  return { inner, given: isObject(given) ? given : {} };
}

/**
 * Returns the parameters of a nested template: the values that its stack passes, in terms of the outer template, or
 * defaults.
 */
function parameterValues(id: string, inner: TemplateJson, given: TemplateJson): TemplateJson {
  const declared = sectionOf(inner, 'Parameters');
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) throw new NotUnderstood(`The template of ${id} has no parameter ${unknown}.`);
  return Object.fromEntries(
    Object.entries(declared).map(([name, declaration]) => {
      const value = given[name] ?? (isObject(declaration) ? declaration.Default : undefined);
      if (value === undefined) throw new NotUnderstood(`${id} is not given the parameter ${name}.`);
      return [name, value];
    }),
  );
}

/** Replaces references to parameters. */
function substitute(value: unknown, parameters: TemplateJson): unknown {
  return rewrite(value, (name, argument) => {
    const named =
      name === 'Fn::Sub' ? Object.keys(parameters).find((id) => inText(argument).includes(`\${${id}}`)) : undefined;
    if (named !== undefined)
      throw new NotUnderstood(`Fn::Sub of the parameter ${named} of a nested template is not understood.`);
    return name === 'Ref' && Object.hasOwn(parameters, String(argument))
      ? { is: parameters[String(argument)] }
      : undefined;
  });
}

type Outputs = Map<string, TemplateJson>;

/** Replaces references to outputs of nested stacks. */
function withOutputs(value: unknown, outputs: Outputs): unknown {
  return rewrite(value, (name, argument) => {
    if (name !== 'Fn::GetAtt' || !Array.isArray(argument)) return undefined;
    const found = outputs.get(String(argument[0]));
    if (!found) return undefined;
    const output = /^Outputs\.(.+)$/.exec(String(argument[1]))?.[1] ?? '';
    if (!Object.hasOwn(found, output))
      throw new NotUnderstood(`${argument.join('.')} is not an output of its template.`);
    return { is: withOutputs(found[output], outputs) };
  });
}

function rewrite(value: unknown, replace: (name: string, argument: unknown) => { is: unknown } | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, replace));
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  const replaced = entries.length === 1 && only ? replace(...only) : undefined;
  if (replaced) return replaced.is;
  return Object.fromEntries(entries.map(([key, item]) => [key, rewrite(item, replace)]));
}

/** Adds resources by id. Ids are local names, so they must be unique across all templates. */
function add(all: TemplateJson, more: TemplateJson): void {
  for (const [id, resource] of Object.entries(more)) {
    if (Object.hasOwn(all, id)) throw new NotUnderstood(`Two templates have a resource ${id}.`);
    all[id] = resource;
  }
}

function inText(argument: unknown): string {
  return typeof argument === 'string' ? argument : JSON.stringify(argument);
}

function outputValue(output: unknown): unknown {
  return isObject(output) ? output.Value : undefined;
}

function sectionOf(template: TemplateJson, name: string): TemplateJson {
  const section = template[name];
  return isObject(section) ? section : {};
}

function mapValues(record: TemplateJson, change: (value: unknown) => unknown): TemplateJson {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
