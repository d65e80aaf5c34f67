/** What a function may touch. Its row or construct lists these, and its role allows them and nothing else. */
export type Permission =
  | 'keys:check'
  | 'engines:read'
  | 'engines:write'
  | 'records:read'
  | 'records:write'
  | 'records:list'
  | 'records:due'
  | 'files:read'
  | 'files:write'
  | 'files:keep'
  | 'files:delete'
  | 'secrets:read'
  | 'secrets:write'
  | 'secrets:delete'
  | 'queues:send'
  | 'records:query'
  | 'events:send'
  | 'sockets:manage'
  /** Only the address of the WebSocket API, which takes no permission. */
  | 'sockets:locate'
  | 'webhooks:send'
  | 'bus:put';
