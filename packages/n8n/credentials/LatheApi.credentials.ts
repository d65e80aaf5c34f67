import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from 'n8n-workflow';

/** The URL of a service and an API key. */
export class LatheApi implements ICredentialType {
  name = 'latheApi';

  displayName = 'Lathe API';

  icon: Icon = { light: 'file:../icons/lathe.svg', dark: 'file:../icons/lathe.dark.svg' };

  documentationUrl = 'https://github.com/OWNER/lathe/tree/main/packages/n8n#credentials';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'url',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://lathe.example.com',
      description: 'URL of the service, without /v1',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'Needs the scopes read and process, and for the trigger also account',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.url.replace(/\\/+$/, "")}}', url: '/v1/account/me' },
  };
}
