import { AccountRootPrincipal, PolicyDocument, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { objectPrefixes } from '../../shared/files/keys.ts';

/**
 * The roles that sign presigned requests of clients. A request expires with the credentials that signed it: a
 * function's own at an unknown time, those of an assumed role after an hour. The policies of functions decide who may
 * assume them: a trust policy that named those functions would be a circular reference.
 */
export class Signers extends Construct {
  readonly uploads: Role;
  readonly parts: Role;
  readonly files: Role;

  constructor(scope: Construct, id: string, bucket: Pick<IBucket, 'arnForObjects'>) {
    super(scope, id);
    const allow = (action: string, prefix: string) => ({
      Permissions: new PolicyDocument({
        statements: [new PolicyStatement({ actions: [action], resources: [bucket.arnForObjects(`${prefix}*`)] })],
      }),
    });
    this.uploads = new Role(this, 'Uploads', {
      assumedBy: new AccountRootPrincipal(),
      description: 'Signs the forms that clients post files to',
      inlinePolicies: allow('s3:PutObject', objectPrefixes.uploads),
    });
    this.parts = new Role(this, 'Parts', {
      assumedBy: new AccountRootPrincipal(),
      description: 'Signs the URLs that clients upload parts of files to',
      inlinePolicies: allow('s3:PutObject', objectPrefixes.files),
    });
    this.files = new Role(this, 'Files', {
      assumedBy: new AccountRootPrincipal(),
      description: 'Signs the URLs that links redirect to',
      inlinePolicies: allow('s3:GetObject', objectPrefixes.files),
    });
  }
}
