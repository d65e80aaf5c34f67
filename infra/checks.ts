import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Preflight } from 'cdk-preflight';
import type { IConstruct } from 'constructs';

interface Accepted {
  rule: RegExp;
  /** Construct paths that may break it. */
  where: RegExp;
  reason: string;
}

/** AwsSolutions rules that the stack breaks on purpose, with places and reasons. */
export const accepted: readonly Accepted[] = [
  ...at(/^Lathe\/Files\/Bucket\/Resource$/, {
    S1: 'Server access logs would keep the names of files for longer than the files, and need a bucket of their own. Only roles of this stack read and write, which CloudTrail can record.',
  }),
  ...at(/^Lathe\/Sockets\/Stage\/Resource$/, {
    APIG1:
      'Access logs of a WebSocket API need an account-wide role, which a stack must not change. The functions log connects, messages and disconnects.',
  }),
  ...at(/^Lathe\/(?:Api|Instant)\/Http\/\w+Route\/Resource$/, {
    APIG4:
      'Every endpoint checks API keys or signatures and rates itself, in one read and one write. An authorizer would be one more function to start and pay for with each request, and could not respond in the format of the API.',
  }),
  ...at(/^Lathe\/Sockets\/Api\/\$(?:connect|default|disconnect)-Route\/Resource$/, {
    APIG4:
      'Clients authenticate when they connect or by their first message, because browsers cannot send headers with a WebSocket. The function closes connections that do not.',
  }),
  {
    rule: /^AwsSolutions-IAM5\[Resource::<\w*FilesBucket\w+(?:\.Arn)?>\/(?:files|passwords|revoked|secrets|uploads)\/\*\]$/,
    where: /\/Role\/Resource$|^Lathe\/Signers\/(?:Uploads|Parts|Files)\/Resource$/,
    reason: 'Object keys contain ids that exist only at run time; each function is limited to the prefixes it handles.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::arn:(?:<AWS::Partition>|aws[a-z-]*):execute-api:.+\/live\/(?:POST|DELETE)\/@connections\/\*\]$/,
    where: /^Lathe\/(?:Events\/Relay|Sockets\/Socket|Lifecycle\/Sweep)\/Role\/Resource$/,
    reason: 'Connection ids exist only at run time; the pattern is limited to this API, its stage and one method.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::arn:(?:<AWS::Partition>|aws[a-z-]*):s3:::[a-z0-9.-]+\/\*\]$/,
    where: /^Lathe\/(?:Engine-transfer\/)?Worker\/Role\/Resource$/,
    reason:
      'The operator opened these buckets by the context value openBuckets; which objects are used is up to users.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::arn:(?:<AWS::Partition>|aws[a-z-]*):batch:.+:job\/\*\]$/,
    where: /\/Worker\/Role\/Resource$/,
    reason: 'The ids of jobs exist only at run time; a worker may end the jobs of its queue, by their tag.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::\*\]$/,
    where: /^Lathe\/(?:Engine-\w+\/)?(?:Worker|Job)\/Role\/Resource$/,
    reason: 'batch:DescribeJobs and ecr:GetAuthorizationToken have no resource level.',
  },
  ...at(/^Lathe\/Batch\/Vpc$/, {
    VPC7: 'Its only routes lead to the endpoints of S3, ECR and CloudWatch Logs, whose calls CloudTrail can record.',
  }),
  ...at(/^Lathe\/SignIn\/Pool\/Resource$/, {
    COG2: 'People may add a second factor themselves. An operator who must require one can use another issuer, by the context value oidcIssuer.',
    COG8: 'The Plus plan has a monthly price per person, and adds compromised-password detection to a pool that by default has a few people added by the operator.',
  }),
  ...at(/^Lathe\/Page\/Bucket\/Resource$/, {
    S1: 'It holds the build of the page, which is public, and only the distribution reads it.',
  }),
  ...at(/^Lathe\/Page\/Distribution\/Resource$/, {
    CFR1: 'Users may be anywhere. An operator who must restrict that can use a web ACL, by the context value webAclArn.',
    CFR2: 'A web ACL has a monthly price and is the choice of the operator, by the context value webAclArn. The API has its own limits.',
    CFR3: 'Everything but the files of the page reaches the API, whose functions log each request with the address of the viewer.',
    CFR4: "CloudFront's default host has a certificate whose policy cannot be chosen. With the context value domain it is TLSv1.2_2021.",
  }),
  {
    rule: /^AwsSolutions-IAM5\[Resource::<PageBucket\w+\.Arn>\/\*\]$/,
    where: /^Lathe\/Page\/Deployer\/Resource$/,
    reason: 'File names change with their content; the bucket holds nothing but the page.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::arn:(?:<AWS::Partition>|aws):s3:::cdk-\w+-assets-\S+\/\*\]$/,
    where: /^Lathe\/Page\/Deployer\/Resource$/,
    reason:
      "The key of the build changes with it, and a role that changes just before it is used may not have propagated. It reads the CDK's asset bucket, as the roles of a deployment do, and writes nothing there.",
  },
  ...at(/^Lathe\/Custom::CDKBucketDeployment\w+\/Resource$/, {
    L1: 'The function is part of the CDK, which chooses its runtime. It runs only during deployments.',
  }),
];

function at(where: RegExp, reasons: Record<string, string>): Accepted[] {
  return Object.entries(reasons).map(([name, reason]) => ({
    rule: new RegExp(`^AwsSolutions-${name}$`),
    where,
    reason,
  }));
}

/** The AwsSolutions rules, except those the stack breaks on purpose. */
export class ReviewedChecks extends AwsSolutionsChecks {
  override validateScope(scope: IConstruct): ReturnType<AwsSolutionsChecks['validateScope']> {
    const violations = super.validateScope(scope).violations.flatMap((violation) => {
      const violatingResources = violation.violatingResources.filter(
        ({ constructPath = '' }) =>
          !accepted.some(({ rule, where }) => rule.test(violation.ruleName) && where.test(constructPath)),
      );
      return violatingResources.length > 0 ? [{ ...violation, violatingResources }] : [];
    });
    return { success: violations.length === 0, violations };
  }
}

/** Rules of cdk-preflight that are wrong, with reasons. */
const wrongRules = [
  // Its list of runtimes lacks nodejs24.x.
  'pf-lambda-layer-compatible-runtimes-enum',
];

/** Fails the synthesis of a template that CloudFormation or a service would refuse, or that breaks a rule of AwsSolutions. */
export function checkTemplates(app: App): void {
  // `strict` makes errors of the CDK's template validation fatal, which it otherwise only prints.
  Preflight.apply(app, { strict: true, exclude: wrongRules });
  Validations.of(app).addPlugins(new ReviewedChecks(app));
}
