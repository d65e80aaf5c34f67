import { fileURLToPath } from 'node:url';
import { App, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';

/** Notes that arrive by a route, wait in a queue and end in a table: an app unrelated to converting files. */
const app = new App();
const stack = new Stack(app, 'Notes');

const table = new Table(stack, 'Table', {
  partitionKey: { name: 'id', type: AttributeType.STRING },
  billingMode: BillingMode.PAY_PER_REQUEST,
  removalPolicy: RemovalPolicy.DESTROY,
});
const queue = new Queue(stack, 'Queue');
const code = Code.fromAsset(fileURLToPath(new URL('function', import.meta.url)));
const environment = { TABLE: table.tableName, QUEUE: queue.queueUrl };
const runtime = Runtime.NODEJS_24_X;

const api = new LambdaFunction(stack, 'Api', { code, runtime, handler: 'notes.api', environment });
queue.grantSendMessages(api);
table.grantReadData(api);

const store = new LambdaFunction(stack, 'Store', { code, runtime, handler: 'notes.store', environment });
store.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
table.grant(store, 'dynamodb:PutItem');

const http = new HttpApi(stack, 'Http');
const integration = new HttpLambdaIntegration('Integration', api);
http.addRoutes({ path: '/notes', methods: [HttpMethod.POST], integration });
http.addRoutes({ path: '/notes/{id}', methods: [HttpMethod.GET], integration });
new CfnOutput(stack, 'Url', { value: http.apiEndpoint });

app.synth();
