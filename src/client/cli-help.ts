/** The examples of a command's help: what for, and the line to type. */
export function examples(...lines: readonly (readonly [what: string, how: string])[]): string {
  return ['', 'Examples:', ...lines.flatMap(([what, how]) => [`  # ${what}`, `  $ ${how}`]), ''].join('\n');
}
