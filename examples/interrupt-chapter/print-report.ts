import { styleText } from 'node:util';
import type { ScenarioReport } from './stage';

type Style = Parameters<typeof styleText>[0];

/** Prints the chapter as a person reads it: scenarios, their steps, what was observed. */
export function printReport(reports: readonly ScenarioReport[], out: NodeJS.WriteStream): void {
  const paint = (style: Style, text: string): string => (out.isTTY ? styleText(style, text) : text);
  const line = (text = ''): boolean => out.write(`${text}\n`);
  for (const { scenario, mode, driver, duration_ms, steps, observations, threads } of reports) {
    line();
    line(
      `${paint('bold', scenario.replaceAll('_', ' '))}  ${paint('dim', `${mode} model · ${driver === 'server' ? 'on Temporal' : 'in memory'} · ${duration_ms} ms`)}`,
    );
    line(paint('dim', `  threads  ${threads.join(', ')}`));
    for (const { name, duration_ms: took } of steps)
      line(`  ${paint('cyan', '▸')} ${name.padEnd(16)} ${paint('dim', `${took} ms`)}`);
    for (const [key, value] of Object.entries(observations)) {
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
        line(`    ${paint('green', key)} ${JSON.stringify(one)}`);
      }
    }
  }
  line();
}
