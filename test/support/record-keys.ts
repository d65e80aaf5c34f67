import { partitions } from '../../shared/aws/table-schema.ts';
import { groupOfId } from '../../shared/ids.ts';

/** Returns the key of a task's record in the table. */
export function keyOfTask(id: string): { pk: string; sk: string } {
  return { pk: `${partitions.group}${groupOfId(id)}`, sk: `task#${id}` };
}

/** Returns the key of a job's record in the table. */
export function keyOfJob(id: string): { pk: string; sk: string } {
  return { pk: `${partitions.group}${groupOfId(id)}`, sk: 'job' };
}
