/**
 * Returns the settings of a client that the SDK would look for in the environment and then in the files of a developer's
 * machine, one after the other and when the first request waits for them. A function has its region and, on this machine, the
 * endpoint of each service in its environment, and no such files.
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
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
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
