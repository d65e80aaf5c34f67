import { currentTemplate } from '../../infra/local/template-cache.ts';

/** Synthesizes the template once, before the files that start a service would all do it. */
export default async function setup(): Promise<void> {
  await currentTemplate();
}
