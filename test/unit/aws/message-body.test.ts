import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messageBody } from '../../../shared/aws/message-body.ts';

it('serializes any text in printable ASCII, and the text comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, text) => {
      const body = messageBody({ [name]: text });

      expect(body).toMatch(/^[\x20-\x7e]*$/);
      expect(JSON.parse(body)).toEqual({ [name]: text });
    }),
  );
});
