/**
 * Builds the script and style of the trace's HTML page into `src/trace/html/page-assets.ts`.
 *
 * The page's script is written as modules in `src/trace/html/page`; here they are checked, stripped of types, imports
 * and exports, and put one after the other in one scope. Their top-level names therefore differ, which is checked too.
 * With `--check` it writes nothing, and fails where the built file is out of date.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import ts from 'typescript';

const PAGE = fileURLToPath(new URL('../src/trace/html/page/', import.meta.url));
const BUILT = fileURLToPath(new URL('../src/trace/html/page-assets.ts', import.meta.url));

const program = checkedProgram();
const modules = inOrder(path.join(PAGE, 'main.ts'));
refuseSharedNames(modules);
const script = `'use strict';\n(() => {\n${modules.map(stripped).join('')}})();\n`;
const style = readFileSync(path.join(PAGE, 'styles.css'), 'utf8');
const built = await prettier.format(
  `// Built by scripts/build-trace-page.mjs from ./page. Do not edit.
/* eslint-disable max-lines */
${constant('PAGE_SCRIPT', script)}
${constant('PAGE_STYLE', style)}
${hash('PAGE_SCRIPT_HASH', script)}
${hash('PAGE_STYLE_HASH', style)}`,
  { ...(await prettier.resolveConfig(BUILT)), filepath: BUILT },
);

if (!process.argv.includes('--check')) {
  writeFileSync(BUILT, built);
} else if (readFileSync(BUILT, 'utf8') !== built) {
  throw new Error('src/trace/html/page-assets.ts is out of date: run node scripts/build-trace-page.mjs');
}

function checkedProgram() {
  const config = ts.getParsedCommandLineOfConfigFile(
    path.join(PAGE, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
      },
    },
  );
  const checked = ts.createProgram(config.fileNames, config.options);
  const problems = ts.getPreEmitDiagnostics(checked);
  if (problems.length > 0) {
    throw new Error(
      ts.formatDiagnostics(problems, { ...ts.sys, getNewLine: () => '\n', getCanonicalFileName: String }),
    );
  }
  return checked;
}

/** The modules a module needs, each after those it needs itself. */
function inOrder(file, seen = new Set()) {
  if (seen.has(file)) return [];
  seen.add(file);
  const source = program.getSourceFile(file);
  const needed = source.statements
    .filter((one) => ts.isImportDeclaration(one) && !one.importClause?.isTypeOnly)
    .flatMap((one) => inOrder(path.join(path.dirname(file), `${one.moduleSpecifier.text}.ts`), seen));
  return [...needed, source];
}

function refuseSharedNames(sources) {
  const owners = new Map();
  for (const source of sources) {
    for (const name of topLevelNames(source)) {
      if (owners.has(name)) throw new Error(`${name} is declared in ${owners.get(name)} and ${source.fileName}`);
      owners.set(name, source.fileName);
    }
  }
}

function topLevelNames({ statements }) {
  return statements.flatMap((one) => {
    if (ts.isVariableStatement(one)) return one.declarationList.declarations.map(({ name }) => name.getText());
    return ts.isFunctionDeclaration(one) || ts.isClassDeclaration(one) ? [one.name.text] : [];
  });
}

function stripped(source) {
  const { outputText } = ts.transpileModule(source.text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      removeComments: true,
      verbatimModuleSyntax: false,
    },
    transformers: { after: [withoutModuleSyntax] },
  });
  return outputText.replace(/^export \{\s*\};\n/m, '');
}

function withoutModuleSyntax(context) {
  const plain = (node) => {
    const modifiers = node.modifiers?.filter(({ kind }) => kind !== ts.SyntaxKind.ExportKeyword);
    const { factory: f } = context;
    if (!node.modifiers) return node;
    if (ts.isVariableStatement(node)) return f.updateVariableStatement(node, modifiers, node.declarationList);
    if (ts.isFunctionDeclaration(node)) {
      const { asteriskToken, name, typeParameters, parameters, type, body } = node;
      return f.updateFunctionDeclaration(node, modifiers, asteriskToken, name, typeParameters, parameters, type, body);
    }
    const { name, typeParameters, heritageClauses, members } = node;
    return f.updateClassDeclaration(node, modifiers, name, typeParameters, heritageClauses, members);
  };
  return (source) =>
    context.factory.updateSourceFile(
      source,
      source.statements.filter((one) => !ts.isImportDeclaration(one) && !ts.isExportDeclaration(one)).map(plain),
    );
}

function constant(name, text) {
  return `export const ${name} = [\n${text
    .split('\n')
    .map((line) => `${JSON.stringify(line)},\n`)
    .join('')}].join('\\n');`;
}

/** What the page's Content-Security-Policy allows. */
function hash(name, text) {
  return `export const ${name} = 'sha256-${createHash('sha256').update(text).digest('base64')}';`;
}
