/** A response of a function or of the gateway. */
export interface GatewayResponse {
  status: number;
  headers: Record<string, string>;
  cookies: string[];
  body: Buffer;
}

/** Hop-by-hop headers, which the gateway sets. */
const connectionHeaders = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Creates a response of the gateway itself. */
export function messageResponse(status: number, message: string): GatewayResponse {
  return jsonResponse(status, JSON.stringify({ message }));
}

/** Parses a function's result as payload format 2.0; `undefined` if it is malformed. */
export function readResponse(result: unknown): GatewayResponse | undefined {
  if (!isRecord(result) || result.statusCode === undefined) {
    return jsonResponse(200, typeof result === 'string' ? result : JSON.stringify(result ?? null));
  }
  const status = Number(result.statusCode);
  const { body = '', headers = {}, cookies = [] } = result;
  if (!Number.isInteger(status) || status < 200 || status > 599) return undefined;
  if (typeof body !== 'string' && body !== null) return undefined;
  if (!isRecord(headers) || !Array.isArray(cookies)) return undefined;
  const bytes = Buffer.from(body ?? '', result.isBase64Encoded === true ? 'base64' : 'utf8');
  const response: GatewayResponse = { status, headers: {}, cookies: cookies.map(String), body: bytes };
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (!connectionHeaders.has(key) && value !== null) response.headers[key] = String(value);
  }
  if (bytes.length > 0) response.headers['content-type'] ??= 'text/plain;charset=UTF-8';
  return response;
}

function jsonResponse(status: number, text: string): GatewayResponse {
  return { status, headers: { 'content-type': 'application/json' }, cookies: [], body: Buffer.from(text) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
