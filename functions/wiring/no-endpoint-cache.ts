/**
 * In bundles it replaces the SDK's cache of endpoints, with the library behind it: functions do not discover endpoints, which is
 * off unless a client asks for it.
 */
export class EndpointCache {
  getEndpoint(): never {
    throw new Error('Bundles cannot discover endpoints.');
  }
}
