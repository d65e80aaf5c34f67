import {
  HeadersReferrerPolicy,
  type ResponseHeadersPolicyProps,
  type ResponseSecurityHeadersBehavior,
} from 'aws-cdk-lib/aws-cloudfront';

type Behaviors = Pick<ResponseHeadersPolicyProps, 'customHeadersBehavior' | 'securityHeadersBehavior'>;

/** Returns headers in the form of a CloudFront policy: security headers by meaning, others by name. */
export function headersBehaviors(headers: Record<string, string>): Behaviors {
  const custom: { header: string; value: string; override: true }[] = [];
  let security: ResponseSecurityHeadersBehavior = {};
  for (const [header, value] of Object.entries(headers)) {
    const known = securityHeader(header, value);
    if (known) security = { ...security, ...known };
    else custom.push({ header, value, override: true });
  }
  return {
    securityHeadersBehavior: security,
    ...(custom.length > 0 ? { customHeadersBehavior: { customHeaders: custom } } : {}),
  };
}

function securityHeader(header: string, value: string): ResponseSecurityHeadersBehavior | undefined {
  const override = true;
  switch (header) {
    case 'content-security-policy':
      return { contentSecurityPolicy: { contentSecurityPolicy: value, override } };
    case 'x-content-type-options':
      return { contentTypeOptions: { override } };
    case 'referrer-policy': {
      const referrerPolicy = Object.values(HeadersReferrerPolicy).find((policy) => policy === value);
      if (!referrerPolicy)
        throw new Error(`Expected a policy that CloudFront knows for ${header} but received ${value}.`);
      return { referrerPolicy: { referrerPolicy, override } };
    }
    case 'strict-transport-security':
    case 'x-frame-options':
    case 'x-xss-protection':
      throw new Error(`CloudFront does not take ${header} by its name, and this function has no setting for it.`);
    default:
      return undefined;
  }
}
