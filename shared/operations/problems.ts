/** Field path to what is wrong with it, in the order found. */
export type FieldErrors = Record<string, string[]>;

/**
 * Why a request is refused that fits its schema: what no schema can express. The 400 carries it as its `reason`, which no
 * other response has.
 */
export const refusals = {
  invalid_input: 'an input is no task of the account or the job, waits for itself, or is one too many or too few',
  unsupported_format: 'the operation is not available for this pair of formats',
  invalid_options: 'the options do not suit the pair of formats or each other, or are too large together',
  invalid_url: 'the URL has the form of one, but no host or port that can exist',
  address_refused: 'the address is private, and the service may not call it',
  conflicting_parameters: 'the query has parameters that exclude each other',
  forbidden_name: 'a field of the body, at whatever depth, is named __proto__, or constructor with a prototype in it',
} as const;
export type Refusal = keyof typeof refusals;
export const refusalNames = Object.keys(refusals) as Refusal[];
