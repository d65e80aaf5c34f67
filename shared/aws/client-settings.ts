import { defined } from '../defined.ts';

/**
 * Returns the client settings that the SDK would otherwise look up in the environment and then in configuration files,
 * while the first request waits. A function has its region and, locally, the endpoint of each service in its
 * environment, and no such files.
 */
export function clientSettings(service: string) {
  const {
    AWS_REGION: region,
    AWS_SDK_UA_APP_ID: userAgentAppId = '',
    AWS_ENDPOINT_URL: common,
    [`AWS_ENDPOINT_URL_${service}`]: own,
  } = process.env;
  const endpoint = own ?? common;
  return {
    ...defined({ region, endpoint }),
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    defaultsMode: 'legacy',
    retryMode: 'standard',
    maxAttempts: 3,
    authSchemePreference: async () => [],
    userAgentAppId,
  } as const;
}
