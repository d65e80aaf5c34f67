import { presentTask } from '../../../shared/tasks/present.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { endpoint } from '../http/endpoint.ts';
import { conflict, notFound } from '../http/errors.ts';
import { ownedTask } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['cancel-task'], async ({ account, params, logger }) => {
  const { taskId } = params;
  const { status } = await ownedTask(account, taskId);
  const decision = await lifecycle.commit(taskId, { type: 'canceled' }, (error) =>
    logger.warn('left to the sweep', { taskId, error }),
  );
  if (decision.outcome === 'missing') throw notFound(`There is no task ${taskId}.`);
  if (decision.outcome !== 'changed') throw conflict(`The task is ${status} and can no longer be canceled.`);
  return { body: presentTask(decision.task) };
});
