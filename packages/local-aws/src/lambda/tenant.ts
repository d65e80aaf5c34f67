import type { LocalFunction } from '../template/model.ts';
import { FunctionError } from './function-error.ts';

/** Valid tenant ids ("Invoke" in the Lambda API reference). */
const tenantForm = /^[a-zA-Z0-9._:/=+\-@ ]{1,256}$/;

/**
 * Refuses an invocation with a tenant that Lambda would not accept.
 * Imitates: "This error occurs when invoking a tenant-isolated function without a tenant ID, or invoking a
 * non-tenant-isolated function with a tenant ID" (developer guide, "Troubleshooting tenant isolation for Lambda
 * functions"), status 400.
 */
export function checkTenant({ perTenant = false }: LocalFunction, tenantId: string | undefined): void {
  if (tenantId !== undefined && !tenantForm.test(tenantId))
    throw new FunctionError(
      'ValidationException',
      `Value '${tenantId}' at 'tenantId' failed to satisfy constraint: Member must satisfy regular expression pattern: ${tenantForm.source}`,
    );
  if (perTenant && tenantId === undefined)
    throw new FunctionError(
      'InvalidParameterValueException',
      'The invoked function is enabled with tenancy configuration. Add a valid tenant ID in your request and try again.',
    );
  if (!perTenant && tenantId !== undefined)
    throw new FunctionError(
      'InvalidParameterValueException',
      'The invoked function is not enabled with tenancy configuration. Remove the tenant ID from your request and try again.',
    );
}
