import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { tableSchema } from '../../shared/aws/table-schema.ts';
import { readDeployment } from '../deployment.ts';

/** The table of tasks, jobs and accounts, with two indexes: an owner's records by id, and due records by time. */
export class RecordsTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { byOwner, byDue } = tableSchema;
    const { keepsData } = readDeployment(this);
    this.table = new Table(this, 'Table', {
      partitionKey: { name: tableSchema.partitionKey, type: AttributeType.STRING },
      sortKey: { name: tableSchema.sortKey, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      // With a KMS key, because signing secrets of webhooks are stored here.
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: tableSchema.timeToLive,
      removalPolicy: keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepsData,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: byOwner.name,
      partitionKey: { name: byOwner.partitionKey, type: AttributeType.STRING },
      sortKey: { name: byOwner.sortKey, type: AttributeType.STRING },
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: [...byOwner.attributes],
    });
    this.table.addGlobalSecondaryIndex({
      indexName: byDue.name,
      partitionKey: { name: byDue.partitionKey, type: AttributeType.STRING },
      sortKey: { name: byDue.sortKey, type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    });
  }
}
