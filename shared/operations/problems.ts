/** Field path to its mistakes, in the order found. */
export type FieldErrors = Record<string, string[]>;

/** Reasons for a 400 although the request matches its schema: rules that JSON Schema cannot express. */
export const refusals = {
  invalid_input: 'an input is not a task of the account or job, depends on itself, or the number of inputs is wrong',
  unsupported_format: 'the operation is not available for this pair of formats',
  invalid_options: 'the options do not apply to the pair of formats, exclude each other, or are too large in total',
  invalid_url: 'the URL is well-formed, but its host or port cannot exist',
  address_refused: 'the address is private, and the service is not allowed to call it',
  unknown_sign_in:
    'the sign-in was not begun in this browser within the last ten minutes, or has already been completed',
  conflicting_parameters: 'parameters exclude each other',
  time_passed: 'a time that must be in the future has passed',
  invalid_message: 'the Model Context Protocol does not allow the message, the batch or the protocol version',
  unknown_field:
    'a field or query parameter is unknown and its name is similar to one that is missing, or is that of an option outside of options',
  forbidden_name: 'a field of the body, at any depth, is named __proto__, or constructor with a prototype in it',
} as const;
export type Refusal = keyof typeof refusals;
export const refusalNames = Object.keys(refusals) as Refusal[];
