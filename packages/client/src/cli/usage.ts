/** An invalid command line; the message says what was expected. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const exitCodes = { done: 0, failed: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

const connection = `  --url URL         service URL; defaults to LATHE_URL, the config file, or http://localhost:3000
  --key KEY         API key; defaults to LATHE_API_KEY or the config file. Other users of the machine can see
                    the arguments of a command: prefer the variable, or lathe login`;

const running = `  --option NAME=VALUE   option of the operation; repeatable (run lathe options for a list)
  --with NAME=PATH  another file that the operation uses, such as fonts or picture; repeatable
  --from FORMAT     input format; by default detected from the content
  -o, --out PATH    output file, output directory, or - for standard output
  --parallel N      number of concurrent conversions; defaults to 4
  --force           overwrite existing files
  --webpage         render URLs as web pages instead of downloading them as files
  --json            print one JSON object per file and line
  -q, --quiet       print only errors
${connection}`;

/** What each command does, in a few words. */
export const summaries: Record<string, string> = {
  convert: 'convert files, folders and URLs',
  compress: 'reduce the size of files',
  crop: 'crop images, videos and PDF pages',
  trim: 'cut audio and video to a part',
  merge: 'merge images and PDFs into one file',
  pdf: 'split, stamp, sign, recognize, redact and otherwise change PDFs',
  invoice: 'make and read electronic invoices',
  formats: 'list formats by kind',
  options: 'list the options of a conversion',
  jobs: 'list recent jobs',
  job: 'show, cancel or download a job',
  watch: 'convert files added to a folder',
  login: 'store the URL and API key',
  mcp: 'serve tools for agents with the Model Context Protocol',
  completion: 'print the completion script of a shell',
};

function documentHelp(group: string, about: string, example: string): string {
  return `lathe ${group} OPERATION INPUT [OUTPUT]
lathe ${group} OPERATION INPUT… --out DIR

${about}

  ${example}

  -t, --to FORMAT   output format; defaults to that of the operation
${running}
`;
}

export const help: Record<string, string> = {
  '': `lathe converts files with a Lathe service.

  lathe login                  store the URL and API key of the service
  lathe convert in.docx out.pdf
  lathe convert photos/*.heic -t webp --option quality=80 -o small
  cat in.docx | lathe convert - -t pdf > out.pdf
  lathe compress scan.pdf smaller.pdf
  lathe crop in.jpg out.jpg --x 10 --y 10 --width 300 --height 200
  lathe trim in.mp3 out.mp3 --start 10 --end 00:01:30
  lathe merge a.pdf b.pdf all.pdf
  lathe pdf ocr scan.pdf text.pdf

Commands:
${Object.entries(summaries)
  .map(([name, summary]) => `  ${name.padEnd(12)}${summary}\n`)
  .join('')}
Run lathe help COMMAND for details and lathe --version (-v) for the version. The URL and API key come from --url and
--key, LATHE_URL and LATHE_API_KEY, or the config file ~/.config/lathe/config.json, which lathe login writes.

Exit codes: 0 all files converted, 1 some files failed, 2 invalid command line, 3 service unreachable or API key
rejected, 130 interrupted.
`,
  convert: `lathe convert INPUT OUTPUT
lathe convert INPUT… --to FORMAT

Inputs are files, folders (all convertible files in them; the others are listed as skipped), patterns such as
'photos/*.heic', URLs, and - for standard input. If a conversion produces several files, such as the pages of a
document, they are numbered. So are outputs with the same name: a/x.jpg and b/x.jpg become x.webp and x-2.webp.

  -t, --to FORMAT   output format; defaults to the extension of OUTPUT
${running}
`,
  compress: `lathe compress INPUT [OUTPUT]
lathe compress INPUT… --out DIR

Reduces the size of files and keeps their format. Without OUTPUT, scan.pdf becomes scan-compressed.pdf.

${running}
`,
  crop: `lathe crop INPUT [OUTPUT] --x X --y Y --width W --height H
lathe crop INPUT… --out DIR --option aspect=16:9

Crops images and videos in pixels, and PDF pages in points. Without OUTPUT, a.jpg becomes a-cropped.jpg.

  --x, --y          left and top edge of the part to keep
  --width, --height its size
  -t, --to FORMAT   output format; defaults to the input format
${running}
`,
  trim: `lathe trim INPUT [OUTPUT] --start TIME --end TIME
lathe trim INPUT… --out DIR --start TIME

Cuts audio and video to a part of their duration. Without OUTPUT, a.mp3 becomes a-trimmed.mp3.

  --start, --end    times in seconds, or as 00:01:30.5
  -t, --to FORMAT   output format; defaults to the input format
${running}
`,
  merge: `lathe merge INPUT INPUT… OUTPUT
lathe merge INPUT INPUT… -o OUTPUT

Merges images and PDFs into a .pdf or .gif file, in the given order. One input can be - for standard input.

  -o, --out FILE    output file, or - for standard output with --to
  -t, --to FORMAT   pdf or gif; defaults to the extension of OUTPUT
  --option NAME=VALUE   merge option; repeatable
  --force           overwrite an existing file
  --json            print a JSON object on one line
  -q, --quiet       print only errors
${connection}
`,
  pdf: documentHelp(
    'pdf',
    `Performs one of these operations on PDFs: split, extract, rotate, reorder, watermark, stamp, encrypt, decrypt, optimize,
ocr, a, ua, forms, fill, sign, verify, redact, compare. Without OUTPUT, scan.pdf becomes scan-ocr.pdf.`,
    'lathe pdf watermark report.pdf draft.pdf --with picture=draft.png',
  ),
  invoice: documentHelp(
    'invoice',
    'Makes a Factur-X or ZUGFeRD invoice of a PDF (embed), or extracts the XML of one (extract).',
    'lathe invoice embed invoice.pdf --with invoice=factur-x.xml',
  ),
  formats: `lathe formats [FORMAT]

Lists the output formats for FORMAT, or all formats, by kind. Other names of a format are in parentheses.

  --into FORMAT     list the input formats for FORMAT instead
  --json            print all names as JSON
${connection}
`,
  options: `lathe options FROM TO
lathe options FORMAT --operation OPERATION

Lists the options of a conversion, or of another operation, with their values and defaults.

  --operation NAME  an operation, such as compress or pdf/stamp; defaults to convert
  --json            print JSON
${connection}
`,
  jobs: `lathe jobs

Lists recent jobs with their files, newest first.

  --status STATUS   created, processing, completed or failed
  --limit N         maximum number of jobs; defaults to 20
  --json            print one JSON object per job and line
${connection}
`,
  job: `lathe job show ID
lathe job cancel ID
lathe job download ID [--out DIR]

Shows the tasks and files of a job, cancels it, or waits for its end and writes its files.

  -o, --out DIR     output directory; defaults to the working directory. - writes a single file to standard output
  --force           overwrite existing files
  --json            print JSON
  -q, --quiet       print only errors
${connection}
`,
  watch: `lathe watch DIR --to FORMAT

Converts existing and new files in DIR that have no output yet, until interrupted.

  -t, --to FORMAT   output format
${running}
`,
  login: `lathe login

Asks for an API key, checks it, and stores it with the URL in the config file, which only you can read. The key can
also come from standard input: lathe login < key.txt

${connection}
`,
  completion: `lathe completion bash|zsh|fish

Prints a script that completes commands, flags and files. Load it in the configuration of your shell:

  eval "$(lathe completion bash)"       # ~/.bashrc
  eval "$(lathe completion zsh)"        # ~/.zshrc, after compinit
  lathe completion fish | source        # ~/.config/fish/config.fish
`,
  mcp: `lathe mcp

Serves tools for agents over standard input and output with the Model Context Protocol: formats, options, operations on
files and URLs, job status, results, estimates. Files are only read and written inside the root folders.

  --root DIR        root folder; repeatable; defaults to the working directory
${connection}
`,
};
