import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Lathe, LatheError, type ResultFile, type RunResult } from '@lathe-convert/client';
import Mustache from 'mustache';

interface Invoice {
  number: string;
  date: string;
  dueDate: string;
  currency: string;
  seller: { name: string; address: string[]; vatId: string; iban: string };
  buyer: { name: string; address: string[] };
  /** Prices are in cents, because binary fractions cannot hold 0.10. */
  lines: { description: string; quantity: number; unitPrice: number; vatPercent: number }[];
}

const [dataPath, outputPath, xmlPath] = process.argv.slice(2);
if (!dataPath || !outputPath) {
  console.error('Usage: node invoice.ts <data.json> <invoice.pdf> [<factur-x.xml>]');
  process.exit(2);
}
const lathe = new Lathe({ url: process.env.LATHE_URL, key: process.env.LATHE_API_KEY });

/** Returns what the template shows: the data, with totals and formatted amounts. */
function viewOf(invoice: Invoice) {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: invoice.currency });
  const money = (cents: number) => format.format(cents / 100);
  const net = new Map<number, number>();
  for (const { quantity, unitPrice, vatPercent } of invoice.lines)
    net.set(vatPercent, (net.get(vatPercent) ?? 0) + Math.round(quantity * unitPrice));
  const rates = [...net].map(([percent, cents]) => ({ percent, cents: Math.round((cents * percent) / 100) }));
  const netTotal = [...net.values()].reduce((sum, cents) => sum + cents, 0);
  const total = rates.reduce((sum, { cents }) => sum + cents, netTotal);
  return {
    ...invoice,
    lines: invoice.lines.map((line) => ({
      ...line,
      unitPrice: money(line.unitPrice),
      amount: money(Math.round(line.quantity * line.unitPrice)),
    })),
    net: money(netTotal),
    rates: rates.map(({ percent, cents }) => ({ percent, amount: money(cents) })),
    total: money(total),
  };
}

/** Prints an invoice to PDF. */
async function print(invoice: Invoice): Promise<ResultFile> {
  const template = await readFile(join(import.meta.dirname, 'template.html'), 'utf8');
  // Mustache escapes every value, so data cannot add elements to the page.
  const html = Mustache.render(template, viewOf(invoice));
  return fileOf(await lathe.convert(new Blob([html]), { filename: 'invoice.html', from: 'html', to: 'pdf' }));
}

/** Makes a Factur-X invoice, which is also ZUGFeRD: a PDF/A-3 with the XML embedded. */
async function embed(pdf: ResultFile, xml: string): Promise<ResultFile> {
  const input = await lathe.blob(pdf);
  return fileOf(await lathe.perform('invoice/embed', [input], { filename: 'invoice.pdf', files: { invoice: xml } }));
}

function fileOf({ files, warnings }: RunResult): ResultFile {
  for (const warning of warnings) console.error(`Warning: ${warning}`);
  const [file] = files;
  if (!file) throw new Error('The conversion has no result.');
  return file;
}

try {
  const invoice: Invoice = JSON.parse(await readFile(dataPath, 'utf8'));
  const pdf = await print(invoice);
  const result = xmlPath ? await embed(pdf, xmlPath) : pdf;
  await lathe.download(result, outputPath);
  console.log(`${outputPath}: ${result.size} bytes`);
} catch (error) {
  console.error(error instanceof LatheError ? `${error.errorCode}: ${error.msg}` : error);
  process.exitCode = 1;
}
