export interface Answer {
  status: number;
  headers: Record<string, string>;
  cookies: string[];
  body: Buffer;
}

/** Headers that belong to the connection, which is the gateway's. */
const CONNECTION_HEADERS = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Makes an answer of the gateway's own. */
export function messageAnswer(status: number, message: string): Answer {
  return jsonAnswer(status, JSON.stringify({ message }));
}

/** Reads what a function returned as payload format 2.0; `undefined` when it is malformed. */
export function readAnswer(result: unknown): Answer | undefined {
  if (!isRecord(result) || result.statusCode === undefined) {
    return jsonAnswer(200, typeof result === 'string' ? result : JSON.stringify(result ?? null));
  }
  const status = Number(result.statusCode);
  const { body = '', headers = {}, cookies = [] } = result;
  if (!Number.isInteger(status) || status < 200 || status > 599) return undefined;
  if (typeof body !== 'string' && body !== null) return undefined;
  if (!isRecord(headers) || !Array.isArray(cookies)) return undefined;
  const bytes = Buffer.from(body ?? '', result.isBase64Encoded === true ? 'base64' : 'utf8');
  const answer: Answer = { status, headers: {}, cookies: cookies.map(String), body: bytes };
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (!CONNECTION_HEADERS.has(key) && value !== null) answer.headers[key] = String(value);
  }
  if (bytes.length > 0) answer.headers['content-type'] ??= 'text/plain;charset=UTF-8';
  return answer;
}

function jsonAnswer(status: number, text: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, cookies: [], body: Buffer.from(text) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
