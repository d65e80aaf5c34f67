import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

const { TABLE: TableName, QUEUE: QueueUrl } = process.env;
const dynamodb = new DynamoDBClient();
const sqs = new SQSClient();

export async function api({ rawPath, requestContext: { http }, body, pathParameters }) {
  if (http.method === 'POST') {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
    return { statusCode: 202, body: rawPath };
  }
  // The role of this function may read the table and not write to it.
  if (pathParameters.id === 'forbidden') {
    const refusal = await store({ Records: [{ body: '{"id":"x"}' }] }).catch((error) => error.name);
    return { statusCode: 200, body: refusal };
  }
  const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key: { id: { S: pathParameters.id } } }));
  return Item ? { statusCode: 200, body: Item.text.S } : { statusCode: 404 };
}

export async function store({ Records }) {
  for (const { body } of Records) {
    const { id, text = '' } = JSON.parse(body);
    await dynamodb.send(new PutItemCommand({ TableName, Item: { id: { S: id }, text: { S: text } } }));
  }
}
