#!/usr/bin/env node
// Checks the package as its users get it: packed, installed into new projects, compiled against and run on a server.
// Prints a line per check; exits 1 if one failed. Everything it makes is in a temporary folder, removed at the end.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = path.join(root, 'test/package/order-app');
const manifest = readJson(path.join(root, 'package.json'));
const temporal = ['client', 'worker', 'workflow', 'activity', 'common'].map((name) => pinned(`@temporalio/${name}`));
// An optional peer, which an entry point of its own needs; the other projects do without.
const telemetry = pinned('@opentelemetry/api');
const compiler = [pinned('typescript'), pinned('@types/node')];
const question = { question: 'approve?', total: 500 };
const final = { order_total: 500, approved: true };

const folder = mkdtempSync(path.join(tmpdir(), 'check-package-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

let passed = 0;
let failed = 0;
try {
  await checkAll();
} catch (error) {
  failed++;
  console.error(error.message);
}
console.log(failed === 0 ? `package: ${passed} checks passed` : `package: ${failed} failed, ${passed} passed`);
process.exitCode = failed === 0 ? 0 : 1;

async function checkAll() {
  const { tarball, files } = await pack();
  await checkFileList(files);
  const fresh = makeProject('a new project', { type: 'commonjs' });
  const older = makeProject('a project that has Temporal', { type: 'commonjs' });
  const modules = makeProject('ES modules, installed alone', { type: 'module' });
  await Promise.all([
    install(fresh, tarball, ...temporal, telemetry, pinned('zod'), ...compiler),
    install(older, ...temporal, pinned('zod'), ...compiler).then(() => install(older, tarball)),
    install(modules, tarball, ...compiler),
  ]);
  await checkContents(path.join(fresh.folder, 'node_modules', manifest.name), files);
  await checkEntryPoints(fresh);
  await checkCommands(fresh);
  await checkApp(fresh, { main: 'main.js', withSdkJson: true, skipLibCheck: false });
  // Such a project keeps a protobufjs per Temporal package, with which the SDK's own JSON functions throw.
  await checkApp(older, { main: 'main.js', withSdkJson: false, skipLibCheck: true });
  await checkApp(modules, { main: 'main.mjs', withSdkJson: true, skipLibCheck: true });
}

/** Builds and packs the package; npm's `prepack` does the building. */
async function pack() {
  const args = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder];
  const [{ filename, files }] = JSON.parse(await run('npm', args, root));
  return { tarball: path.join(folder, filename), files: files.map((file) => file.path) };
}

async function checkFileList(files) {
  await check('the tarball has its documents', () => {
    expectNone('missing', without(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'], files));
  });
  await check('every source is packed with its build', () => {
    const sources = files.filter((file) => file.startsWith('src/')).map((file) => file.slice(4, -'.ts'.length));
    const wanted = sources.flatMap((name) => ['js', 'js.map', 'd.ts', 'd.ts.map'].map((end) => `dist/${name}.${end}`));
    expect(sources.length > 0, 'no sources');
    expectNone('missing', without(wanted, files));
    const built = files.filter((file) => file.startsWith('dist/'));
    expectNone('built from nothing', without(built, wanted));
  });
  await check('nothing else is packed', () => {
    const expected = /^(?:dist\/.+|src\/.+\.ts|[A-Z]+\.md|LICENSE|package\.json)$/;
    const tests = /(?:^|[/.])(?:test|tests|__tests__|test-d|fixtures)[/.]/;
    const others = files.filter((file) => !expected.test(file) || tests.test(file));
    expectNone('packed too', others);
  });
}

async function checkContents(installed, files) {
  const textOf = (file) => readFileSync(path.join(installed, file), 'utf8');
  await check('source maps lead to packed sources', () => {
    const maps = files.filter((file) => file.endsWith('.map'));
    const targets = maps.flatMap((map) => {
      const { sourceRoot = '', sources } = JSON.parse(textOf(map));
      return sources.map((source) => path.posix.join(path.posix.dirname(map), sourceRoot, source));
    });
    expectNone('not packed', without(targets, files));
  });
  const builds = files.filter((file) => /^dist\/.+\.(?:js|d\.ts)$/.test(file));
  const imported = [...new Set(builds.flatMap((file) => packagesImportedBy(textOf(file))))];
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(textOf('package.json'));
  await check('every imported package is declared', () => {
    expectNone('not declared', without(imported, Object.keys({ ...dependencies, ...peerDependencies })));
  });
  await check('every dependency is imported', () => {
    expectNone('not imported', without(Object.keys(dependencies), imported));
  });
}

/** The packages that a built file imports, itself and Node's own aside. */
function packagesImportedBy(text) {
  const specifiers = text.matchAll(
    /\b(?:(?:require|import)\(|from |import )['"]((?:@[\w.-]+\/)?\w[\w.-]*)[^'"\s]*['"]/g,
  );
  return [...specifiers]
    .map(([, name]) => name)
    .filter((name) => name !== 'node' && !builtinModules.includes(name) && name !== manifest.name);
}

async function checkEntryPoints(project) {
  const installed = path.join(project.folder, 'node_modules', manifest.name);
  const entries = Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([subpath, target]) => ({ specifier: path.posix.join(manifest.name, subpath), target }));
  const names = await exportedNames(
    project,
    entries.map(({ specifier }) => specifier),
  );
  for (const { specifier, target } of entries) {
    await check(`${specifier} has types, can be required and imported by name`, () => {
      const targets = [target.types, target.default];
      expectNone(
        'missing',
        targets.filter((file) => !existsSync(path.join(installed, file))),
      );
      const { required, imported, error } = names[specifier];
      expect(error === undefined, error);
      expect(required.length > 0, 'exports nothing');
      expectNone('not importable by name', without(required, imported));
    });
  }
}

async function checkCommands(project) {
  for (const command of Object.keys(manifest.bin ?? {})) {
    await check(`${command} --help`, () => run('npx', ['--no-install', command, '--help'], project.folder));
  }
}

/** What each of these modules exports: as it is required, and as Node can import it by name. */
async function exportedNames(project, specifiers) {
  const code = `
    import { createRequire } from 'node:module';
    const require = createRequire(process.cwd() + '/main.js');
    const names = {};
    for (const specifier of ${JSON.stringify(specifiers)}) {
      try {
        const imported = Object.keys(await import(specifier));
        names[specifier] = { imported, required: Object.keys(require(specifier)) };
      } catch (error) {
        names[specifier] = { error: String(error) };
      }
    }
    console.log(JSON.stringify(names));`;
  return JSON.parse(await run('node', ['--input-type=module', '--eval', code], project.folder));
}

function makeProject(title, { type }) {
  const project = { title, type, folder: path.join(folder, title.replaceAll(/\W+/g, '-')) };
  mkdirSync(project.folder);
  writeJson(project, 'package.json', { name: 'consumer', version: '1.0.0', private: true, type });
  return project;
}

async function install(project, ...packages) {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', ...quiet, ...packages], project.folder);
}

/** Compiles the app as a reader of the README would, runs it, and looks at what it observed. */
async function checkApp(project, { main, withSdkJson, skipLibCheck }) {
  const { title } = project;
  await check(`${title}: compiles`, () => compileApp(project, main, skipLibCheck));
  if (!existsSync(path.join(project.folder, 'dist', main))) return;
  let observed;
  await check(`${title}: runs`, async () => {
    observed = JSON.parse(await run('node', [path.join('dist', main)], project.folder));
  });
  if (observed === undefined) return;
  const { fetched, recordedJson, sdkJson } = observed.replays;
  await check(`${title}: pauses in memory`, () => assert.deepEqual(observed.questionInMemory, question));
  await check(`${title}: pauses on a server`, () => assert.deepEqual(observed.question, question));
  await check(`${title}: ends with the approval`, () => assert.deepEqual(observed.final, final));
  await check(`${title}: replays what was fetched`, () => expect(fetched === 'replayed', fetched));
  await check(`${title}: replays what was recorded as JSON`, () => expect(recordedJson === 'replayed', recordedJson));
  if (!withSdkJson) return;
  await check(`${title}: replays the SDK's JSON`, () => expect(sdkJson === 'replayed', sdkJson));
}

async function compileApp(project, main, skipLibCheck) {
  const source = path.join(project.folder, 'src');
  const mains = readdirSync(app).filter((file) => file.startsWith('main.'));
  const otherMains = mains.filter((file) => file !== main.replace('js', 'ts'));
  cpSync(app, source, { recursive: true, filter: (file) => !otherMains.includes(path.basename(file)) });
  const module = project.type === 'module' ? 'nodenext' : 'node16';
  const compilerOptions = { target: 'es2022', module, strict: true, skipLibCheck, types: ['node'] };
  writeJson(project, 'tsconfig.json', {
    compilerOptions: { ...compilerOptions, rootDir: 'src', outDir: 'dist' },
    include: ['src'],
  });
  const tsc = path.join('node_modules', 'typescript', 'bin', 'tsc');
  const output = await run('node', [tsc, '--pretty', 'false'], project.folder).catch((error) => error.message);
  // With `skipLibCheck: false` other packages' declarations are checked too; their faults are not ours.
  const errors = output.split('\n').filter((line) => /\berror TS\d+:/.test(line));
  const others = new RegExp(`^node_modules/(?!${manifest.name}/)`);
  const ours = errors.filter((line) => !others.test(line));
  expectNone('errors', ours);
}

async function check(name, look) {
  try {
    await look();
    passed++;
    console.log(`ok: ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${name}: ${error.message}`);
  }
}

/** Runs a command to its end and returns what it printed. Of a failure, its last lines, without any host's name. */
async function run(command, args, cwd) {
  const options = { cwd, timeout: 300_000, maxBuffer: 64 * 1024 * 1024, shell: process.platform === 'win32' };
  try {
    const { stdout } = await promisify(execFile)(command, args, options);
    return stdout;
  } catch ({ stdout = '', stderr = '', message }) {
    const printed = (stderr || stdout).trim() || message;
    const lines = printed
      .replaceAll(/https?:\/\/[^\s/]+/g, '<host>')
      .split('\n')
      .slice(-30);
    throw new Error(`${command} ${args[0]} failed\n${lines.join('\n')}`);
  }
}

function pinned(name) {
  return `${name}@${manifest.devDependencies[name]}`;
}

function expectNone(what, found) {
  expect(found.length === 0, `${what}: ${found.join(', ')}`);
}

function expect(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}

function without(list, others) {
  return list.filter((item) => !others.includes(item));
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(project, name, value) {
  writeFileSync(path.join(project.folder, name), JSON.stringify(value, null, 2));
}
