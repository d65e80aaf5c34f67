import * as z from 'zod';

const schemaObject = z.record(z.string(), z.unknown());

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: schemaObject,
});

const operationSchema = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.tuple([z.string()]),
  security: z.array(z.unknown()),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: schemaObject })) }).optional(),
});

/** What collections need of the OpenAPI document. */
export const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({ schemas: z.record(z.string(), schemaObject) }),
});

export type ApiDocument = z.infer<typeof documentSchema>;
export type ApiOperation = z.infer<typeof operationSchema>;
export type JsonSchema = z.infer<typeof schemaObject>;
