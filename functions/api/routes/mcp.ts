import * as z from 'zod';
import { keyed, type Route } from '../http/route.ts';

/** The fields common to all JSON-RPC messages. The MCP package checks the rest. */
const McpMessages = () => {
  const message = z.looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).optional().describe('Id of a request, repeated in its response.'),
    method: z.string().optional().describe('Such as initialize, tools/list, tools/call.'),
    params: z.looseObject({}).optional(),
  });
  return z.union([message, z.array(message).min(1).max(50)], 'Expected a JSON-RPC 2.0 message, or up to 50 of them.');
};

export const mcpRoutes = {
  mcp: {
    module: 'mcp/mcp',
    ...keyed('POST', '/mcp', 'read', 'Agents'),
    summary:
      'Serve tools to agents over the Model Context Protocol (streamable HTTP with JSON responses, without sessions)',
    keyOnly: true,
    permissions: [],
    body: McpMessages,
    refusals: ['invalid_message'],
    alternative: { status: 202, description: 'The body contains only notifications or responses.' },
    response: 'McpResponse',
  },
} as const satisfies Record<string, Route>;
