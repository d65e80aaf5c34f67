/** The arrows between the parts of the project; `npm run check` fails on any other. */

const domain = '^shared/(accounts|catalogue|events|files|jobs|lifecycle|lists|operations|pictures|tasks|webhooks)/';

/** The rooms of functions/, and what each may enter beyond shared/; no arrow points back up. */
const rooms = {
  engines: [],
  catalogue: ['engines/[^/]+/catalogue[.]ts'],
  wiring: ['catalogue/'],
  invocation: ['catalogue/', 'engines/runtime/'],
  worker: ['wiring/', 'catalogue/', 'invocation/', 'engines/runtime/'],
  transfers: [
    'wiring/',
    'catalogue/',
    'invocation/errors[.]ts',
    'worker/worker[.]ts',
    'engines/runtime/(engine|outputs)[.]ts',
  ],
  events: ['wiring/', 'catalogue/'],
  // The sweep pings idle connections.
  lifecycle: ['wiring/', 'catalogue/', 'events/websocket/pings[.]ts'],
  // An instant conversion invokes engines and imports URLs within the request.
  api: [
    'wiring/',
    'catalogue/',
    'invocation/',
    'engines/runtime/(engine|protocol|redact)[.]ts',
    'transfers/import-url[.]ts',
  ],
};

export default {
  forbidden: [
    {
      name: 'no-cycle-between-folders',
      comment: 'Folders that import each other are one folder in two places: neither can be read, or moved, alone.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycle-between-modules',
      comment: 'Which of two modules is loaded first would decide whether what they import from each other is there.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'shared-stands-alone',
      comment: 'What everybody uses must not depend on any of its users.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(functions|infra|test)/' },
    },
    {
      name: 'domain-knows-no-aws',
      comment:
        'Tasks, jobs and catalogues are rules of the product: they are tested without AWS, and outlive a change of it.',
      severity: 'error',
      from: { path: domain },
      to: { path: ['^shared/aws/', '@aws-sdk/', '@aws-lambda-powertools/', 'aws-lambda'] },
    },
    {
      name: 'domain-knows-no-http',
      comment: 'Schemas of requests and the shapes of their errors belong to the API, which is one of several ways in.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: ['node_modules/zod/', '@middy/'] },
    },
    {
      name: 'one-table-module',
      comment:
        'Pagination, unprocessed items, failed conditions and the form of attributes are handled once. Tools that write to a table of another account or process have a client of their own.',
      severity: 'error',
      from: { pathNot: ['^shared/aws/table[.]ts$', '^infra/(local|keys)/', '^packages/local-aws/'] },
      to: { path: '@aws-sdk/(client|lib|util)-dynamodb' },
    },
    {
      name: 'local-stack-loads-no-cdk',
      comment:
        'The local stack reads the template; the CDK, which makes it, would take a quarter of its time to start.',
      severity: 'error',
      from: { path: '^(infra/local|packages/local-aws/src)/' },
      to: { path: 'node_modules/aws-cdk-lib/', reachable: true },
    },
    {
      name: 'client-stands-alone',
      comment: 'The client is published by itself: it knows the service by its OpenAPI document alone.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { path: '^(functions|infra|shared|test)/' },
    },
    {
      name: 'only-agents-go-by-the-client',
      comment:
        'The tools that the service offers agents are those of the client, and call the API as any client does. No other part of the service is a client of itself.',
      severity: 'error',
      from: { path: '^(functions|shared|infra)/', pathNot: '^functions/api/mcp/' },
      to: { path: '^packages/client/' },
    },
    {
      name: 'local-aws-knows-no-lathe',
      comment: 'Any CDK app can be run by the package: it knows templates, and nothing about converting files.',
      severity: 'error',
      from: { path: '^packages/(local-aws|runtime-client)/src/' },
      to: { path: '^(functions|infra|shared|test|web|packages/client)/' },
    },
    {
      name: 'service-runs-without-local-aws',
      comment: 'What is deployed must not need what imitates AWS.',
      severity: 'error',
      from: { path: '^(functions|shared)/' },
      to: { path: '^packages/local-aws/' },
    },
    {
      name: 'client-runs-in-browsers',
      comment: 'Browsers have no modules of Node; the command line and the tools of agents are for Node only.',
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: '^packages/client/src/(cli|mcp|node)/' },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only', 'type-import'] },
    },
    {
      name: 'functions-know-no-infra',
      comment: 'A function is deployed without the stack that describes it.',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(infra|test)/' },
    },
    {
      name: 'infra-reads-tables-only',
      comment: 'The stack follows from the route table and the catalogues; what functions do is none of its business.',
      severity: 'error',
      from: { path: '^infra/' },
      to: {
        path: '^functions/',
        pathNot: [
          '^functions/api/(routes|http/route)[.]ts$',
          '^functions/catalogue/',
          '^functions/engines/runtime/(engine|find-program|protocol)[.]ts$',
          '^functions/engines/[^/]+/check[.]ts$',
          // The local stack records the barriers that this machine grants engines, as workers do in AWS.
          '^functions/engines/runtime/sandbox/probe[.]ts$',
          // Costs follow from how often a function reads the limits of a key.
          '^functions/api/http/token-leases[.]ts$',
          // The cost of a split run follows from its plan and the speeds of encoders.
          '^functions/worker/split/plan-parts[.]ts$',
          '^functions/engines/media/(time-limit|presets)[.]ts$',
          // The font that the bundled browser brings serves the other programs of a machine that has none.
          '^functions/engines/webpage/bundle[.]ts$',
        ],
      },
    },
    ...Object.entries(rooms).map(([room, below]) => ({
      name: `${room}-enters-what-is-below`,
      comment: 'A room of functions/ is read with what it stands on, and changes without what stands on it.',
      severity: 'error',
      from: { path: `^functions/${room}/` },
      to: { path: '^functions/', pathNot: [`${room}/`, ...below].map((path) => `^functions/${path}`) },
    })),
    {
      name: 'engines-hold-no-keys',
      comment:
        'An engine opens the files of strangers, so it is given signed URLs and no client of AWS; and what concerns other engines would rebuild its image.',
      severity: 'error',
      from: { path: '^functions/engines/[^/]+/(handler|run)[.]ts$' },
      to: {
        path: ['@aws-sdk/', '^shared/aws/', '^functions/(wiring|worker|catalogue|invocation)/'],
        reachable: true,
      },
    },
    {
      name: 'engines-stand-alone',
      comment:
        'An engine is added, and read, as one folder. Some lend their code: whatever makes a picture finishes it as the image engine does, e-books, mail and what becomes Markdown go through the programs and guards of the document engine, mail is drawn by the browser of web pages, and office documents become PDF/UA by the validator of PDFs.',
      severity: 'error',
      from: { path: '^functions/engines/(?!runtime/)([^/]+)/' },
      to: {
        path: '^functions/engines/',
        pathNot: [
          '^functions/engines/($1|runtime)/',
          '^functions/engines/image/(encoding-options|finish|formats|options|transform|codecs/tiff-pages|encoders/pdf|vector/pdf-pages)[.]ts$',
          '^functions/engines/document/(convert|detect|formats|options|plain-text|xml-text|guards/(containers|defuse-html|defuse-package|inspection|pictures)|office/(fonts|office)|pdf/pdf)[.]ts$',
          '^functions/engines/webpage/(browser|check|render|requires|targets)[.]ts$',
          '^functions/engines/pdf/archive/ua[.]ts$',
        ],
      },
    },
    {
      name: 'runtime-knows-no-engine',
      comment: 'What runs engines must not change when one is added.',
      severity: 'error',
      from: { path: '^functions/engines/runtime/' },
      to: { path: '^functions/engines/(?!runtime/)' },
    },
  ],
  options: {
    // TypeScript 7 has no interface for other programs yet; swc reads the same imports, types among them.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js'] },
  },
};
