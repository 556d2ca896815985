import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { catalogue } from './conformance/catalogue';

const ROOT = join(__dirname, '..');
const PAGE = readFileSync(join(ROOT, 'docs/engine.md'), 'utf8').replaceAll(/\s+/g, ' ');
const CASES = 'test/conformance/cases/';

/** A test file that the page names, with the sentences it quotes from it. */
interface Named {
  readonly file: string;
  readonly sentences: readonly string[];
}

/** `test/…`, and what stands in “quotation marks” right behind it. */
function namedIn(text: string): Named[] {
  return [...text.matchAll(/`(test\/[\w/.-]+)`((?:[ ,]*“[^”]*”)*)/g)].map(([, file = '', quoted = '']) => ({
    file,
    sentences: [...quoted.matchAll(/“([^”]*)”/g)].map(([, sentence = '']) => sentence),
  }));
}

function pathOf(file: string): string | undefined {
  return ['.test.ts', '.test-d.ts', '.ts', ''].map((end) => join(ROOT, file + end)).find(existsSync);
}

/** What a file of tests says: cases by the catalogue that plays them, tests by the calls that make them. */
function sentencesOf(file: string): readonly string[] {
  if (file.startsWith(CASES)) {
    const subject = file.slice(CASES.length);
    const own = catalogue.filter(({ scene }) => scene.name.startsWith(`${subject}_`));
    return own.map(({ id, rule }) => id.slice(`${rule}: `.length));
  }
  const source = ts.createSourceFile(file, readFileSync(pathOf(file) ?? '', 'utf8'), ts.ScriptTarget.Latest);
  return titlesIn(source);
}

function titlesIn(node: ts.Node): string[] {
  const within: string[] = [];
  ts.forEachChild(node, (child) => void within.push(...titlesIn(child)));
  if (!ts.isCallExpression(node) || !makesTests(node.expression)) return within;
  const [title] = node.arguments;
  return title && ts.isStringLiteralLike(title) ? [title.text, ...within] : within;
}

// `it(…)`, `test.each(…)(…)`, and the like; nothing that is skipped.
function makesTests(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ['it', 'test', 'describe'].includes(callee.text);
  if (ts.isCallExpression(callee))
    return ts.isPropertyAccessExpression(callee.expression) && makesTests(callee.expression);
  return ts.isPropertyAccessExpression(callee) && callee.name.text === 'each' && makesTests(callee.expression);
}

const parts = PAGE.split(/ ## /).slice(1);
const lawLines = (parts.find((part) => part.startsWith('The law')) ?? '').split(/ (?=\d+\. \*\*)/).slice(1);

it('every test that the page names is there', () => {
  const files = namedIn(PAGE).map(({ file }) => file);
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => pathOf(file) === undefined)).toEqual([]);
});

it('every sentence that the page quotes is one of the test it stands behind', () => {
  const unknown = namedIn(PAGE).flatMap(({ file, sentences }) => {
    const known = sentences.length > 0 ? sentencesOf(file) : [];
    return sentences.filter((sentence) => !known.includes(sentence)).map((sentence) => `${file}: ${sentence}`);
  });
  expect(unknown).toEqual([]);
});

it('nothing is quoted that no test stands before', () => {
  const quoted = namedIn(PAGE).flatMap(({ sentences }) => sentences);
  expect([...PAGE.matchAll(/“([^”]*)”/g)].map(([, sentence]) => sentence)).toEqual(quoted);
});

it('every line of the law quotes a test', () => {
  expect(lawLines.map((line) => Number.parseInt(line, 10))).toEqual(
    Array.from({ length: 14 }, (_, index) => index + 1),
  );
  expect(lawLines.filter((line) => namedIn(line).every(({ sentences }) => sentences.length === 0))).toEqual([]);
});

it('so does every part of the page', () => {
  const silent = parts.filter((part) => namedIn(part).every(({ sentences }) => sentences.length === 0));
  expect(silent.map((part) => part.slice(0, 40))).toEqual([]);
});

it('a sentence that no test has is noticed, also where it is only part of one, or skipped', () => {
  const text =
    '`test/graph/pauses` “stays a pause though the body throws afterwards”, “stays a pause” and `test/nowhere`';
  const [pauses, nowhere] = namedIn(text) as [Named, Named];
  expect(pauses.sentences.map((one) => sentencesOf(pauses.file).includes(one))).toEqual([true, false]);
  expect(pathOf(nowhere.file)).toBeUndefined();
  const source = ts.createSourceFile('x.ts', "it.skip('a', f); it.each(t)('b', f); // it('c')", ts.ScriptTarget.Latest);
  expect(titlesIn(source)).toEqual(['b']);
});
