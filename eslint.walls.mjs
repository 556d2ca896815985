/**
 * The walls between rooms: who may import whom.
 *
 * Each room's block lists all that the room may import; anything else is reported, type imports too. Nothing but lint
 * guards these walls: the workflow bundler takes `openai` or an activity without a word.
 */

/** Any file of another room, or these files of it. */
const room = (name, files = ['[^/]+']) => `\\.\\./${name}/(?:${files.join('|')})`;

const OWN_FILES = '\\./[^/]+';
const GRAPH = room('graph');
const NODE = 'node:.+';
const OPENAI = 'openai(?:/.+)?';
const ZOD = 'zod';

/** The activities' files that need no Temporal context, so that a run in memory can share them. */
const SHARED_WITH_MEMORY = [
  'call-model',
  'call-record',
  'call-tool',
  'capture-fetch',
  'chat-model',
  'check-dependencies',
  'implement-tool',
  'limit-exchanges',
  'model-error',
  'model-failures',
  'openai-model',
  'openai-options',
  'openai-reply',
  'openai-request',
  'openai-stream',
  'record-exchange',
  'retry-after',
  'secrets',
  'sent-headers',
];

const TESTING = [OWN_FILES, GRAPH, room('activities', SHARED_WITH_MEMORY), NODE];

const CLIENT = [
  OWN_FILES,
  GRAPH,
  room('trace'),
  room('workflows', ['messages', 'pending-in-the-open']),
  '@temporalio/client',
  '@temporalio/common',
  NODE,
];

/** What the package exports beside `abeyance` itself. */
const ENTRY_POINTS = ['workflow', 'activity', 'worker', 'client', 'trace', 'testing', 'server', 'opentelemetry'];

// Where two blocks match a file, the later one replaces the earlier.
export const walls = [
  wall('entry point', { files: ['src/*.ts'], may: ['\\./graph/[^/]+'] }),

  wall('graph', { files: ['src/graph/**'], may: [OWN_FILES, ZOD, '@noble/hashes/[^/]+'], dynamic: false }),

  wall('workflows', {
    files: ['src/workflows/**'],
    may: [OWN_FILES, GRAPH, '@temporalio/workflow', '@temporalio/common'],
    mayAsTypes: [room('activities')],
    dynamic: false,
  }),

  wall('activities', {
    files: ['src/activities/**'],
    may: [OWN_FILES, GRAPH, '@temporalio/activity', OPENAI, NODE],
    mayAsTypes: [ZOD],
  }),
  wall('activities shared with memory', {
    files: SHARED_WITH_MEMORY.map((file) => `src/activities/${file}.ts`),
    may: [`\\./(?:${SHARED_WITH_MEMORY.join('|')})`, GRAPH, OPENAI, NODE],
    mayAsTypes: [OWN_FILES, '@temporalio/activity', ZOD],
  }),

  // The composition root meets every room but the caller's, and telemetry, which users add or leave.
  wall('worker', {
    files: ['src/worker/**'],
    may: ['(?!abeyance|@temporalio/client|@opentelemetry|\\.\\./(?:client|opentelemetry|index)).+'],
  }),

  // Whoever comes here has installed OpenTelemetry; nobody else need have.
  wall('opentelemetry', {
    files: ['src/opentelemetry/**'],
    may: [OWN_FILES, GRAPH, room('activities', ['attempt-observer']), '@opentelemetry/api'],
    mayAsTypes: [room('activities'), '@temporalio/worker'],
  }),

  wall('client', { files: ['src/client/**'], may: CLIENT, mayAsTypes: [room('workflows')] }),
  wall('command line', {
    files: ['src/client/cli.ts', 'src/client/cli-*.ts'],
    may: [
      ...CLIENT,
      room('trace', ['html/[^/]+']),
      room('server'),
      '@temporalio/envconfig',
      'commander',
      'picocolors',
      'cli-table3',
    ],
    mayAsTypes: [room('workflows')],
  }),

  // Folding runs nodes that live in workflow code, and so lends them a storage, as every room does that runs nodes.
  wall('trace', {
    files: ['src/trace/**'],
    may: [OWN_FILES, '\\./html/[^/]+', GRAPH, ZOD, '@temporalio/common', 'node:async_hooks'],
  }),

  wall('trace as HTML', { files: ['src/trace/html/*.ts'], may: [OWN_FILES], mayAsTypes: ['\\.\\./[^/]+'] }),
  // The page's script is checked against the trace's types, and takes along nothing else.
  wall('script of the HTML page', {
    files: ['src/trace/html/page/**'],
    may: [OWN_FILES],
    mayAsTypes: ['(?:\\.\\./){1,2}[^/]+'],
  }),

  wall('testing', { files: ['src/testing/**'], may: TESTING, mayAsTypes: [room('activities')] }),
  wall('history recorder and replay', {
    files: ['src/testing/*{histor,replay}*.ts'],
    may: [...TESTING, '@temporalio/worker', '@temporalio/common/lib/proto-utils'],
    mayAsTypes: [room('activities'), '@temporalio/client'],
  }),

  wall('server', { files: ['src/server/**'], may: [OWN_FILES, NODE] }),

  // Written as a user would write them: of ours only the package by name, and their own folder.
  wall('examples', {
    files: ['examples/**'],
    may: [`(?!/|.*\\.\\.(?:/|$)|abeyance/(?!(?:${ENTRY_POINTS.join('|')})$)).+`],
  }),

  {
    name: 'abeyance/deterministic',
    files: ['src/{graph,workflows}/**'],
    rules: { 'no-restricted-globals': restrictedGlobals() },
  },
  {
    name: 'abeyance/pure',
    files: ['src/graph/**'],
    rules: {
      'no-restricted-globals': restrictedGlobals([
        { name: 'Date', message: 'A graph has no clock: whoever drives it says what time it is.' },
      ]),
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'A graph steps the same way every time.' },
      ],
    },
  },
];

/** One room's block: reports an import unless `may`, or for a type import `mayAsTypes`, matches the whole of it. */
function wall(name, { files, may, mayAsTypes = [], dynamic = true }) {
  const values = `(?:${may.join('|')})$`;
  const types = `(?:${mayAsTypes.join('|')})$`;
  const notAtAll = {
    regex: mayAsTypes.length > 0 ? `^(?!${values}|${types})` : `^(?!${values})`,
    caseSensitive: true,
    message: `A wall: eslint.walls.mjs lists what "${name}" may import.`,
  };
  const onlyAsTypes = {
    regex: `^(?!${values})${types}`,
    caseSensitive: true,
    allowTypeImports: true,
    message: `A wall: "${name}" may import only types from there. Use: import type.`,
  };
  // A regular expression in a selector ends at its first slash, escaped or not.
  const elsewhere = `^(?!${values})`.replaceAll('/', '\\x2f');
  return {
    name: `abeyance/wall/${name.replaceAll(' ', '-')}`,
    files,
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: mayAsTypes.length > 0 ? [notAtAll, onlyAsTypes] : [notAtAll] },
      ],
      'no-restricted-syntax': [
        'error',
        dynamic
          ? { selector: `ImportExpression[source.value=/${elsewhere}/]`, message: notAtAll.message }
          : { selector: 'ImportExpression', message: 'Workflow code is bundled: import it statically.' },
      ],
    },
  };
}

/** What a workflow's sandbox lacks, or what would differ in a replay. */
function restrictedGlobals(more = []) {
  const names = [
    'process',
    'Buffer',
    'fetch',
    'setInterval',
    'setImmediate',
    'require',
    'structuredClone',
    'queueMicrotask',
    'crypto',
    'performance',
  ];
  const message = 'Workflow code cannot have it: the sandbox lacks it, or a replay would differ.';
  return ['error', { globals: [...names.map((name) => ({ name, message })), ...more], checkGlobalObject: true }];
}
