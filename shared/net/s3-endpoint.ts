/** Returns the endpoint of S3 in a region, regardless of the one in the environment, which is for the service itself. */
export function s3Endpoint(region: string): URL {
  const suffix = region.startsWith('cn-')
    ? 'amazonaws.com.cn'
    : region.startsWith('eusc-')
      ? 'amazonaws.eu'
      : 'amazonaws.com';
  return new URL(`https://s3.${region}.${suffix}`);
}
