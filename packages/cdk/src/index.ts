export { Lathe } from './lathe.ts';
export type { EngineName, EngineSizes, LatheProps } from './props.ts';
