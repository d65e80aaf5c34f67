/** A command line that cannot be understood; the message says what was expected. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const exitCodes = { done: 0, failed: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

const connection = `  --url URL         the service; defaults to LATHE_URL, the config file, http://localhost:3000`;

const running = `  --option NAME=VALUE   an option of the conversion; may be repeated (lathe options lists them)
  --from FORMAT     the format of the inputs; detected from their content by default
  --out DIR         where to write; beside each input by default
  --parallel N      files at once; defaults to 4
  --force           replace files that exist
  --webpage         take URLs as web pages, which are rendered, and not as files
  --json            print one line of JSON for each file
  --quiet           print errors only
${connection}`;

export const help: Record<string, string> = {
  '': `lathe converts files with a Lathe service.

  lathe convert in.docx out.pdf
  lathe convert photos/*.heic --to webp --option quality=80 --out small
  lathe compress scan.pdf smaller.pdf
  lathe merge a.pdf b.pdf all.pdf
  lathe formats heic           what a format can be converted to
  lathe options jpg pdf        the options of a conversion
  lathe jobs                   your latest jobs
  lathe watch DIR --to pdf     convert what is put into a folder
  lathe mcp                    tools for agents, by the Model Context Protocol

lathe help COMMAND says more. The key is read from LATHE_API_KEY, the address from LATHE_URL, or both from the config
file, {"url": "…", "key": "…"} in ~/.config/lathe/config.json.

Exit codes: 0 all converted, 1 some failed, 2 the command line is wrong, 3 the service cannot be reached or refuses the
key, 130 interrupted.
`,
  convert: `lathe convert INPUT OUTPUT
lathe convert INPUT… --to FORMAT

Inputs are files, folders (with all they contain that can be converted), patterns such as 'photos/*.heic', and URLs.
An output of several files, such as the pages of a document, is numbered, and so is an output whose name another input
of the same command has: x.webp and x-2.webp for a/x.jpg and b/x.jpg.

  --to FORMAT       the format to convert to
${running}
`,
  compress: `lathe compress INPUT [OUTPUT]
lathe compress INPUT… --out DIR

Makes files smaller in their own format. Without OUTPUT, scan.pdf becomes scan-compressed.pdf.

${running}
`,
  merge: `lathe merge INPUT INPUT… OUTPUT

Merges images and PDFs, in this order, into a .pdf or .gif.

  --option NAME=VALUE   an option of the merge; may be repeated
  --force           replace the output if it exists
  --json            print one line of JSON
  --quiet           print errors only
${connection}
`,
  formats: `lathe formats [FORMAT]

Lists what FORMAT can be converted to, or all formats.

  --into FORMAT     list what can be converted to FORMAT instead
  --json            print JSON
${connection}
`,
  options: `lathe options FROM TO

Lists the options of a conversion with their values and defaults.

  --json            print JSON
${connection}
`,
  jobs: `lathe jobs

Lists the latest jobs, newest first.

  --status STATUS   created, processing, completed or failed
  --limit N         how many; defaults to 20
  --json            print one line of JSON for each job
${connection}
`,
  watch: `lathe watch DIR --to FORMAT

Converts each file that is, or is put, in DIR and has no output yet, until it is interrupted.

  --to FORMAT       the format to convert to
${running}
`,
  mcp: `lathe mcp

Serves tools for agents over standard input and output, by the Model Context Protocol: formats, options, conversion of
files and URLs, state of jobs, results, estimates. Files are read and written only below the roots.

  --root DIR        a folder that may be used; may be repeated; defaults to the working directory
${connection}
`,
};
