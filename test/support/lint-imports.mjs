// Lints snippets with the walls of the repository's own ESLint configuration: cases as JSON in, findings as JSON out.
// A process of its own, since Jest cannot load a configuration that is an ES module.
import { text } from 'node:stream/consumers';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const WALLS = [
  '@typescript-eslint/no-restricted-imports',
  'no-restricted-globals',
  'no-restricted-properties',
  'no-restricted-syntax',
];

const eslint = new ESLint({
  cwd: process.argv[2],
  // The files are made up, so there are no types to check.
  overrideConfig: [tseslint.configs.disableTypeChecked],
  ruleFilter: ({ ruleId }) => WALLS.includes(ruleId),
});

const cases = JSON.parse(await text(process.stdin));
const findings = [];
for (const { filePath, code } of cases) {
  const [{ messages }] = await eslint.lintText(code, { filePath });
  findings.push(messages.map(({ ruleId, message }) => `${ruleId ?? 'error'}: ${message}`));
}
process.stdout.write(JSON.stringify(findings));
