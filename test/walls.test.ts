import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '..');

/** What a file may say and what lint must stop; a bare word is an import of it, `type x` a type import. */
interface Room {
  readonly allowed: readonly string[];
  readonly forbidden: readonly string[];
}

const ROOMS: Readonly<Record<string, Room>> = {
  'src/index.ts': {
    allowed: ['./graph/commands', 'type ./graph/decision'],
    forbidden: ['./workflows/messages', './client/graph-client', 'type ./activities/chat-model', '@temporalio/common'],
  },
  'src/graph/any.ts': {
    allowed: ['./plan', 'zod', '@noble/hashes/sha2', 'const later = setTimeout(() => undefined, 1);'],
    forbidden: [
      '../workflows/messages',
      'type ../workflows/messages',
      'type ../activities/chat-model',
      'type ../client/graph-client',
      '../index',
      '@temporalio/workflow',
      'type @temporalio/common',
      'openai',
      'node:crypto',
      'fs',
      'abeyance',
      'export { x } from "node:fs";',
      'export * from "@temporalio/common";',
      'import fs = require("node:fs");',
      'const plan = import("./plan");',
      'const now = Date.now();',
      'const now = new Date();',
      'const now = globalThis.Date.now();',
      'const luck = Math.random();',
      'const copy = structuredClone({});',
      'const bytes = Buffer.from("");',
      'const mode = process.env.MODE;',
      'const id = crypto.randomUUID();',
    ],
  },
  'src/workflows/any.ts': {
    allowed: [
      './messages',
      '../graph/engine',
      'type ../activities/node-activity',
      'import { type NodeActivity } from "../activities/node-activity";',
      '@temporalio/workflow',
      '@temporalio/common',
      'const now = new Date();',
    ],
    forbidden: [
      '../activities/node-activity',
      'import { type NodeActivity, bodyActivity } from "../activities/node-activity";',
      'import type {} from "node:fs";',
      'export { bodyActivity } from "../activities/node-activity";',
      'type ../client/graph-client',
      '../worker/abeyance-plugin',
      '../testing/scripted-model',
      '../server/find-server',
      'zod',
      'openai',
      'type openai',
      'node:fs',
      'node:async_hooks',
      'crypto',
      '@temporalio/worker',
      '@temporalio/client',
      'type @temporalio/activity',
      'const openai = import("openai");',
      'const id = crypto.randomUUID();',
      'const timer = setInterval(() => undefined, 1);',
      'const reply = fetch("http://localhost");',
      'const started = performance.now();',
      'const fs = require("node:fs");',
      'setImmediate(() => undefined);',
      'queueMicrotask(() => undefined);',
    ],
  },
  'src/activities/any.ts': {
    allowed: [
      './failures',
      '../graph/json',
      '@temporalio/activity',
      'openai',
      'type openai/resources/chat',
      'type zod',
      'node:async_hooks',
      'const client = import("openai");',
      'const at = Date.now();',
    ],
    forbidden: [
      '../workflows/messages',
      'type ../workflows/messages',
      'type ../worker/abeyance-plugin',
      '../client/graph-client',
      '../testing/scripted-model',
      'zod',
      '@temporalio/workflow',
      'type @temporalio/client',
      '@temporalio/worker',
      'const client = import("../client/graph-client");',
    ],
  },
  'src/activities/call-model.ts': {
    allowed: ['./chat-model', '../graph/json', 'type @temporalio/activity', 'type ./node-activity', 'node:crypto'],
    forbidden: ['@temporalio/activity', './node-activity', './failures', 'type ../workflows/messages'],
  },
  'src/activities/openai-model.ts': {
    allowed: ['./capture-fetch', '../graph/exchange', 'openai', 'type openai/resources/chat', 'node:async_hooks'],
    forbidden: ['@temporalio/activity', './failures', './heartbeat-details', 'zod'],
  },
  'src/worker/any.ts': {
    allowed: [
      './late-calls',
      '../graph/errors',
      '../workflows/messages',
      '../activities/create-activities',
      '../server/find-server',
      '@temporalio/worker',
      'node:vm',
    ],
    forbidden: [
      '../client/graph-client',
      'type ../client/graph-client',
      '../client',
      '@temporalio/client',
      'type @temporalio/client',
      '@opentelemetry/api',
      '../opentelemetry/trace-attempts',
      'abeyance/client',
      'const client = import("../client/graph-client");',
    ],
  },
  'src/opentelemetry/any.ts': {
    allowed: [
      './semantic-conventions',
      '../graph/errors',
      '../activities/attempt-observer',
      'type ../activities/call-record',
      'type @temporalio/worker',
      '@opentelemetry/api',
    ],
    forbidden: [
      '../activities/node-activity',
      '../worker/abeyance-plugin',
      'type ../workflows/messages',
      '@temporalio/worker',
      '@temporalio/interceptors-opentelemetry',
      '@opentelemetry/sdk-trace-base',
      'openai',
    ],
  },
  'src/client/any.ts': {
    allowed: [
      './read-thread',
      '../graph/commands',
      '../trace/build-trace',
      '../workflows/messages',
      '../workflows/pending-in-the-open',
      'type ../workflows/graph-run',
      '@temporalio/client',
      '@temporalio/common',
      'node:crypto',
    ],
    forbidden: [
      '../workflows/graph-run',
      '../workflows/index',
      '../workflows',
      'type ../activities/chat-model',
      '../worker/abeyance-plugin',
      '../server/start-server',
      'type ../server/start-server',
      '../testing/scripted-model',
      '@temporalio/workflow',
      'type @temporalio/worker',
      'openai',
      'commander',
      'const server = import("../server/start-server");',
    ],
  },
  'src/client/cli.ts': {
    allowed: [
      './graph-client',
      '../server/start-server',
      '../trace/build-trace',
      'commander',
      'picocolors',
      'cli-table3',
      'const page = import("../trace/html/render-html.js");',
      '@temporalio/client',
      'type ../workflows/graph-run',
      'const server = import("../server/start-server");',
    ],
    forbidden: ['../worker/abeyance-plugin', '../workflows/graph-run', 'type ../activities/chat-model', 'openai'],
  },
  'src/trace/any.ts': {
    allowed: ['./build-trace', '../graph/run-view', '@temporalio/common'],
    forbidden: [
      '../workflows/messages',
      'type ../activities/call-record',
      'type ../client/read-thread',
      '@temporalio/client',
      'openai',
      'node:fs',
    ],
  },
  'src/trace/html/any.ts': {
    allowed: ['./page-data', 'type ../trace'],
    forbidden: ['../trace', './page/main', 'type ../../graph/exchange', 'node:fs', 'zod'],
  },
  'src/trace/html/page/any.ts': {
    allowed: ['./dom', 'type ../page-data', 'type ../../trace'],
    forbidden: ['../page-data', '../../trace', 'type ../../../graph/exchange', 'node:fs', 'zod'],
  },
  'src/testing/any.ts': {
    allowed: [
      './memory-thread',
      '../graph/engine',
      '../activities/call-model',
      '../activities/check-dependencies',
      'type ../activities/create-activities',
      'node:async_hooks',
    ],
    forbidden: [
      '../activities/node-activity',
      '../activities/create-activities',
      '../activities',
      '../workflows/messages',
      'type ../client/graph-client',
      '../worker/abeyance-plugin',
      '@temporalio/activity',
      '@temporalio/worker',
      'type @temporalio/worker',
      '@temporalio/client',
      '@temporalio/testing',
    ],
  },
  'src/testing/replay-histories.ts': {
    allowed: ['@temporalio/worker', '@temporalio/common/lib/proto-utils', '../graph/errors', 'type @temporalio/client'],
    forbidden: ['@temporalio/client', '../worker/abeyance-plugin', '@temporalio/workflow', '@temporalio/testing'],
  },
  'src/server/any.ts': {
    allowed: ['./find-server', 'node:child_process'],
    forbidden: [
      '../graph/errors',
      'type ../graph/errors',
      '../client/graph-client',
      '../index',
      'abeyance',
      '@temporalio/testing',
      'type @temporalio/client',
      'zod',
    ],
  },
  'examples/order/any.ts': {
    allowed: [
      './graphs',
      'abeyance',
      'abeyance/workflow',
      'abeyance/testing',
      'type abeyance/client',
      '@temporalio/worker',
      'zod',
      'node:fs',
      'const worker = import("abeyance/worker");',
    ],
    forbidden: [
      '../../src',
      '../../src/graph/commands',
      'type ../../src/client/graph-client',
      './../../src/index',
      '../other/graphs',
      'abeyance/dist/index',
      'abeyance/src/graph/commands',
      'abeyance/workflows',
      'const graphs = import("../../src/index");',
    ],
  },
};

const cases = Object.entries(ROOMS).flatMap(([filePath, { allowed, forbidden }]) => [
  ...allowed.map((line) => ({ filePath, line, code: codeOf(line), verdict: 'allowed' as const })),
  ...forbidden.map((line) => ({ filePath, line, code: codeOf(line), verdict: 'forbidden' as const })),
]);

const EVERY_ROOM = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());

/** A bare module name stands for an import of it. */
function codeOf(line: string): string {
  if (/[;(]/.test(line)) return line;
  return line.startsWith('type ') ? `import type { X } from '${line.slice(5)}';` : `import { x } from '${line}';`;
}

function lint(snippets: readonly { readonly filePath: string; readonly code: string }[]): string[][] {
  const linter = path.join(__dirname, 'support', 'lint-imports.mjs');
  const { stdout, stderr, status } = spawnSync(process.execPath, [linter, ROOT], {
    input: JSON.stringify(snippets),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`lint-imports.mjs failed: ${stderr}`);
  return JSON.parse(stdout) as string[][];
}

describe('walls between rooms', () => {
  let findings: string[][];
  let unwalled: string[][];

  beforeAll(() => {
    const anywhere = EVERY_ROOM.map(({ name }) => ({ filePath: `src/${name}/any.ts`, code: codeOf('abeyance') }));
    const all = lint([...cases, ...anywhere]);
    findings = all.slice(0, cases.length);
    unwalled = all.slice(cases.length);
  });

  test.each(cases.map((c, index) => ({ ...c, index })))('$filePath: $line is $verdict', ({ index, verdict }) => {
    const found = findings[index];
    if (verdict === 'allowed') expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringMatching(/no-restricted-/)]);
  });

  test.each(EVERY_ROOM.map(({ name }, index) => ({ name, index })))('src/$name has walls', ({ index }) => {
    expect(unwalled[index]).toEqual([expect.stringContaining('eslint.walls.mjs')]);
  });
});
