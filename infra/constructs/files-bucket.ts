import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  CfnBucket,
  HttpMethods,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { objectPrefixes } from '../../shared/files/keys.ts';
import { readDeployment } from '../deployment.ts';
import { WorkQueue } from './work-queue.ts';

/** The bucket of all files. It notifies the uploads queue of every file that a client posts. */
export class FilesBucket extends Construct {
  readonly bucket: Bucket;
  readonly uploads: WorkQueue;

  constructor(scope: Construct, id: string, props: { consumerTimeout: Duration }) {
    super(scope, id);
    this.uploads = new WorkQueue(this, 'Uploads', props);
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // With a KMS key, because store credentials and file passwords are kept here while tasks run. The AWS managed key
      // admits every caller that S3 admits. A key of the stack would cost monthly and add a grant to every role.
      encryption: BucketEncryption.KMS_MANAGED,
      bucketKeyEnabled: true,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // No versioning: files must be gone after four hours, and deleted ones would remain as versions.
      removalPolicy: readDeployment(this).keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      // Upload forms, parts and links work from any page. Their signatures limit what they may do.
      cors: [
        {
          allowedMethods: [HttpMethods.GET, HttpMethods.HEAD, HttpMethods.POST, HttpMethods.PUT],
          allowedOrigins: ['*'],
          allowedHeaders: ['*'],
          exposedHeaders: ['ETag', 'Content-Disposition', 'Content-Length', 'Content-Range', 'Accept-Ranges'],
          maxAge: 3600,
        },
      ],
      // Catches anything that the sweep misses.
      lifecycleRules: [{ expiration: Duration.days(2), abortIncompleteMultipartUploadAfter: Duration.days(1) }],
    });
    this.#notify();
  }

  // The CDK's notifications add a function that may configure every bucket of the account. The resource's property
  // needs none, but requires the queue's policy first, which therefore cannot name the bucket.
  #notify(): void {
    const policy = this.uploads.queue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('s3.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.uploads.queue.queueArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    const bucket = this.bucket.node.defaultChild;
    if (!(bucket instanceof CfnBucket)) throw new Error('The bucket has no resource of its own.');
    bucket.notificationConfiguration = {
      queueConfigurations: [
        {
          event: 's3:ObjectCreated:*',
          queue: this.uploads.queue.queueArn,
          filter: { s3Key: { rules: [{ name: 'prefix', value: objectPrefixes.uploads }] } },
        },
      ],
    };
    if (policy.policyDependable) bucket.node.addDependency(policy.policyDependable);
  }
}
