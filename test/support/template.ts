import { currentTemplate } from '../../infra/build/template-cache.ts';
import { readFlattened } from '../../packages/local-aws/src/template/flatten.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface TemplateResource {
  Type: string;
  Properties: Record<string, Json>;
  Metadata?: Record<string, Json>;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export type Identified = TemplateResource & { id: string };

export interface Template {
  Resources: Record<string, TemplateResource>;
  Parameters: Record<string, { Type: string; Default?: string; Description?: string }>;
  Outputs: Record<string, Json>;
  Conditions?: Record<string, Json>;
}

/** Reads the synthesized template, merged with its nested stacks, before the local stack interprets it. */
export async function readSynthesized(): Promise<Template> {
  // Typed by what the tests read.
  return JSON.parse(JSON.stringify(readFlattened(await currentTemplate())));
}

/** Lists the statements of the policies that a role holds. */
export function statementsOf({ Properties }: Pick<TemplateResource, 'Properties'>): Record<string, Json>[] {
  const policies = (Properties.Policies ?? []) as { PolicyDocument: { Statement: Record<string, Json>[] } }[];
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

/** Lists the resources of a type with their logical ids. */
export function resourcesOf(template: Template, type: string): Identified[] {
  return Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => ({ id, ...resource }));
}

/** Returns the logical id at the start of a reference, an attribute or a joined text. */
export function referredTo(value: Json | undefined): string {
  const [id] = /(?<="(?:Ref|Fn::GetAtt)":\[?")[^".]+/.exec(JSON.stringify(value ?? null)) ?? [];
  return id ?? '';
}
