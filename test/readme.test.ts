import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';

const ROOT = join(__dirname, '..');
// Inside the repository, so that the package finds itself by name.
const DIRECTORY = join(__dirname, '.readme');

const PAGES = ['README.md', 'docs/operations.md', 'docs/engine.md'];

/** The code of the pages, by the file name in its first line. */
function snippets(): ReadonlyMap<string, string> {
  const text = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
  const blocks = [...text.matchAll(/```ts\n\/\/ ([\w.-]+)\n([\s\S]*?)```/g)];
  return new Map(blocks.map(([, name, code]) => [name as string, code as string]));
}

beforeAll(() => {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const [name, code] of snippets()) writeFileSync(join(DIRECTORY, name), code);
});

afterAll(() => rmSync(DIRECTORY, { recursive: true, force: true }));

it('shows a graph, its workflow, nodes, worker, client, a reader, an agent, a test, external storage, telemetry, a subgraph and time travel', () => {
  expect([...snippets().keys()].sort()).toEqual([
    'agent-worker.ts',
    'agent.ts',
    'approve.ts',
    'article.ts',
    'clerk.ts',
    'graph.ts',
    'nodes.ts',
    'order.test.ts',
    'start.ts',
    'storage.ts',
    'stored-orders.ts',
    'telemetry.ts',
    'time-travel.ts',
    'traced-client.ts',
    'traced-worker.ts',
    'watch.ts',
    'worker.ts',
    'workflows.ts',
  ]);
});

it('compiles as it stands', () => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => readFileSync(file, 'utf8'));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  const files = [...snippets().keys()].map((name) => join(DIRECTORY, name));
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const found = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  expect(found).toEqual([]);
}, 60_000);

it('runs as it says it does', async () => {
  const flags = ['--conditions=abeyance-source', '--import', 'tsx', '--test'];
  // Without jest's own mark, which makes Node's runner think it is run by another.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(DIRECTORY, 'order.test.ts')], { env });
  expect(stdout).toMatch(/pass 1\b/);
}, 30_000);
