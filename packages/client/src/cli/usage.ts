/** An invalid command line; the message says what was expected. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const exitCodes = { done: 0, failed: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

const connection = `  --url URL         service URL; defaults to LATHE_URL, the config file, or http://localhost:3000`;

const running = `  --option NAME=VALUE   conversion option; repeatable (run lathe options for a list)
  --from FORMAT     input format; by default detected from the content
  --out DIR         output directory; defaults to the directory of each input
  --parallel N      number of concurrent conversions; defaults to 4
  --force           overwrite existing files
  --webpage         render URLs as web pages instead of downloading them as files
  --json            print one JSON object per file and line
  --quiet           print only errors
${connection}`;

export const help: Record<string, string> = {
  '': `lathe converts files with a Lathe service.

  lathe convert in.docx out.pdf
  lathe convert photos/*.heic --to webp --option quality=80 --out small
  lathe compress scan.pdf smaller.pdf
  lathe merge a.pdf b.pdf all.pdf
  lathe formats heic           list output formats
  lathe options jpg pdf        list conversion options
  lathe jobs                   list recent jobs
  lathe watch DIR --to pdf     convert files added to a folder
  lathe mcp                    serve tools for agents with the Model Context Protocol

Run lathe help COMMAND for details. Set the API key in LATHE_API_KEY and the service URL in LATHE_URL, or both in the
config file ~/.config/lathe/config.json as {"url": "…", "key": "…"}.

Exit codes: 0 all files converted, 1 some files failed, 2 invalid command line, 3 service unreachable or API key
rejected, 130 interrupted.
`,
  convert: `lathe convert INPUT OUTPUT
lathe convert INPUT… --to FORMAT

Inputs are files, folders (all convertible files in them), patterns such as 'photos/*.heic', and URLs. If a conversion
produces several files, such as the pages of a document, they are numbered. So are outputs with the same name: a/x.jpg
and b/x.jpg become x.webp and x-2.webp.

  --to FORMAT       output format
${running}
`,
  compress: `lathe compress INPUT [OUTPUT]
lathe compress INPUT… --out DIR

Reduces the size of files and keeps their format. Without OUTPUT, scan.pdf becomes scan-compressed.pdf.

${running}
`,
  merge: `lathe merge INPUT INPUT… OUTPUT

Merges images and PDFs into a .pdf or .gif file, in the given order.

  --option NAME=VALUE   merge option; repeatable
  --force           overwrite an existing file
  --json            print a JSON object on one line
  --quiet           print only errors
${connection}
`,
  formats: `lathe formats [FORMAT]

Lists the output formats for FORMAT, or all formats.

  --into FORMAT     list the input formats for FORMAT instead
  --json            print JSON
${connection}
`,
  options: `lathe options FROM TO

Lists the options of a conversion with their values and defaults.

  --json            print JSON
${connection}
`,
  jobs: `lathe jobs

Lists recent jobs, newest first.

  --status STATUS   created, processing, completed or failed
  --limit N         maximum number of jobs; defaults to 20
  --json            print one JSON object per job and line
${connection}
`,
  watch: `lathe watch DIR --to FORMAT

Converts existing and new files in DIR that have no output yet, until interrupted.

  --to FORMAT       output format
${running}
`,
  mcp: `lathe mcp

Serves tools for agents over standard input and output with the Model Context Protocol: formats, options, conversion of
files and URLs, job status, results, estimates. Files are only read and written inside the root folders.

  --root DIR        root folder; repeatable; defaults to the working directory
${connection}
`,
};
