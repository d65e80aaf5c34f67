import { endpoint } from '../../shared/http/endpoint.ts';
import { conflict, notFound } from '../../shared/http/errors.ts';
import { presentTask } from '../../shared/tasks/present.ts';
import { lifecycle } from '../wiring.ts';
import { ownTask } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['cancel-task'], async ({ account, params }) => {
  const { status } = await ownTask(account, params.taskId);
  const decision = await lifecycle.apply(params.taskId, { type: 'canceled' });
  if (decision.outcome === 'missing') throw notFound(`There is no task ${params.taskId}.`);
  if (decision.outcome === 'refused') throw conflict(`The task is ${status} and can be canceled no more.`);
  return { body: presentTask(decision.task) };
});
