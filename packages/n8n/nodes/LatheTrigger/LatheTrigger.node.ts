import type {
  IDataObject,
  IHookFunctions,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
} from 'n8n-workflow';
import { jsonParse, NodeConnectionTypes } from 'n8n-workflow';
import { checked, request, requestJson } from '../Lathe/api';
import { isGenuine } from './verify';

interface Webhook {
  id: string;
  url: string;
  events: string[];
  disabledAt: string | null;
}

/** Starts a workflow when a job is created, completes or fails. */
export class LatheTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Lathe Trigger',
    name: 'latheTrigger',
    icon: { light: 'file:../../icons/lathe.svg', dark: 'file:../../icons/lathe.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when a job is created, completes or fails',
    defaults: { name: 'Lathe Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'latheApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        options: [
          { name: 'Job Completed', value: 'job.completed' },
          { name: 'Job Created', value: 'job.created' },
          { name: 'Job Failed', value: 'job.failed' },
        ],
        default: ['job.completed', 'job.failed'],
        required: true,
      },
    ],
  };

  webhookMethods = {
    default: {
      /** Returns whether the service has the webhook of this workflow, and the workflow its secret. */
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { id, secret } = this.getWorkflowStaticData('node');
        if (typeof id !== 'string' || typeof secret !== 'string') return false;
        const { docs } = await requestJson<{ docs: Webhook[] }>(this, '/v1/account/webhooks');
        const known = docs.find((webhook) => webhook.id === id);
        const events = eventsOf(this);
        if (!known) return false;
        const isCurrent =
          known.url === this.getNodeWebhookUrl('default') &&
          known.disabledAt === null &&
          known.events.length === events.length &&
          events.every((event) => known.events.includes(event));
        if (!isCurrent) await deleteWebhook(this, id);
        return isCurrent;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const json = { url: this.getNodeWebhookUrl('default'), events: eventsOf(this) };
        const { id, secret } = await requestJson(this, '/v1/account/webhooks', { method: 'POST', json, retry: false });
        Object.assign(this.getWorkflowStaticData('node'), { id, secret });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const data = this.getWorkflowStaticData('node');
        if (typeof data.id === 'string') await deleteWebhook(this, data.id);
        delete data.id;
        delete data.secret;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret } = this.getWorkflowStaticData('node');
    const { rawBody } = this.getRequestObject();
    const headers = this.getHeaderData();
    const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
    const message = {
      id: header('webhook-id'),
      timestamp: header('webhook-timestamp'),
      signatures: header('webhook-signature'),
      body: rawBody,
    };
    if (typeof secret !== 'string' || !rawBody || !isGenuine(secret, message)) {
      this.getResponseObject().status(401).json({ message: 'The signature is invalid.' });
      return { noWebhookResponse: true };
    }
    const event = jsonParse<IDataObject>(rawBody.toString());
    return { workflowData: [this.helpers.returnJsonArray([{ ...event, webhookId: message.id }])] };
  }
}

function eventsOf(context: IHookFunctions): string[] {
  return [context.getNodeParameter('events')].flat().map(String);
}

/** Deletes a webhook, unless it is already gone. */
async function deleteWebhook(context: IHookFunctions, id: string): Promise<void> {
  const response = await request(context, `/v1/account/webhooks/${id}`, { method: 'DELETE' });
  if (response.status !== 404) checked(response);
}
