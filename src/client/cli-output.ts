import { createColors } from 'picocolors';
import type { GlobalOptions } from './cli-globals';
import { jsonLine, jsonPretty } from './cli-text';

export type Colours = ReturnType<typeof createColors>;

/** Standard output: results and nothing else, in the form asked for. */
export class Output {
  readonly format: GlobalOptions['output'];
  readonly usesColour: boolean;
  readonly colours: Colours;

  constructor({ output, color }: Pick<GlobalOptions, 'output' | 'color'>) {
    this.format = output;
    this.usesColour = color === 'auto' ? terminalWantsColour() : color === 'always';
    this.colours = createColors(this.usesColour);
  }

  /** One result. */
  one(value: unknown, text: () => string): void {
    switch (this.format) {
      case 'json':
        return this.line(jsonPretty(value));
      case 'jsonl':
        return this.line(jsonLine(value));
      case 'text':
        return this.line(text());
    }
  }

  /** Several: an array as `json`, one line each as `jsonl`. */
  many(values: readonly unknown[], text: () => string): void {
    if (this.format === 'jsonl') values.forEach((value) => this.line(jsonLine(value)));
    else this.one(values, text);
  }

  private line(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}

/** Standard error: remarks to a person, which no program reads. */
export function remark(text: string): void {
  process.stderr.write(`abeyance: ${text}\n`);
}

function terminalWantsColour(): boolean {
  const { NO_COLOR, TERM } = process.env;
  // A pipe's isTTY is undefined, which picocolors would take for a wish of its own to fulfil.
  return process.stdout.isTTY === true && !NO_COLOR && TERM !== 'dumb';
}
