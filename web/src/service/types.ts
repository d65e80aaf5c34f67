import type { components } from '../../../packages/client/src/openapi.ts';

export type { ResultFile } from '../../../packages/client/src/types.ts';

type Of<Name extends keyof components['schemas']> = components['schemas'][Name];

export type Job = Of<'Job'>;
export type Task = Of<'Task'>;
export type JobPage = Of<'JobPage'>;
export type FormatList = Of<'FormatList'>;
export type OptionList = Of<'OptionList'>;
export type Option = OptionList['options'][number];
export type DryRun = Of<'DryRun'>;
export type Me = Of<'Me'>;
export type Token = Of<'Token'>;
export type Health = Of<'Health'>;
export type KeyList = Of<'KeyList'>;
export type Key = KeyList['docs'][number];
export type NewKey = Of<'NewKey'>;
export type Webhook = Of<'Webhook'>;
export type WebhookList = Of<'WebhookList'>;
export type DeliveryList = Of<'DeliveryList'>;
export type Usage = Of<'Usage'>;
export type MemberList = Of<'MemberList'>;
export type AuditPage = Of<'AuditPage'>;
export type SignedOut = Of<'SignedOut'>;
export type ErrorBody = Of<'Error'>;
