export { Faults, FaultsError, faultNames, readFaults } from './faults/faults.ts';
export {
  type ClientSettings,
  type LocalAwsOptions,
  type PreparedAws,
  type RunningAws,
  startLocalAws,
} from './start.ts';
export type { LocalFunction, LocalStack, QueueSource } from './template/model.ts';
export { NotUnderstood } from './template/properties.ts';
