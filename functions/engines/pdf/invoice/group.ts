import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';

/** Operations on PDFs that carry an invoice as XML. */
export const invoice: Group = {
  capabilities: [
    onPdf('invoice/embed', [password]),
    { operation: 'invoice/extract', from: ['pdf'], to: ['xml'], options: [password] },
  ],
};
