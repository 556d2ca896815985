import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphRunner } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { chapterPage } from '../../examples/interrupt-chapter/chapter-page';
import { chapterDependencies } from '../../examples/interrupt-chapter/dependencies';
import { runChapter } from '../../examples/interrupt-chapter/run-chapter';
import { SideEffects } from '../../examples/interrupt-chapter/side-effects';
import type { ScenarioReport } from '../../examples/interrupt-chapter/stage';
import { onServer } from '../support/on-server';
import { SEED } from './seed';

const directory = mkdtempSync(join(tmpdir(), 'chapter-test-'));
const effects = new SideEffects(join(directory, 'effects.jsonl'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const server = onServer(() => chapterDependencies(effects));

const DRIVERS: readonly (readonly [ScenarioReport['driver'], () => GraphRunner])[] = [
  ['memory', () => new InMemoryGraphs(chapterDependencies(effects))],
  ['server', () => server.graphs],
];

describe.each(DRIVERS)('the chapter, driver %s', (driver, graphs) => {
  let reports: readonly ScenarioReport[];
  beforeAll(async () => {
    reports = await runChapter(graphs(), effects, driver);
  });

  it('plays the scenarios of the original, in its order', () => {
    expect(reports.map(({ scenario }) => scenario)).toEqual(Object.keys(SEED));
  });

  it.each(Object.entries(SEED))('observes what the original observed: %s', (scenario, { steps, observations }) => {
    const report = reports.find((one) => one.scenario === scenario);
    expect(Object.keys(report?.observations ?? {}).sort()).toEqual(Object.keys(observations).sort());
    expect(withBareMessages(report?.observations)).toEqual(observations);
    expect(report?.steps.map(({ name }) => name)).toEqual(steps);
    expect(report).toMatchObject({ mode: 'mock', driver });
  });
});

it('makes one page of every scenario, read from the histories of its threads', async () => {
  const played = await runChapter(server.graphs, effects, 'server');
  const page = await chapterPage(server.client, played);
  expect(page).toContain('<title>The interrupt chapter');
  for (const { scenario, threads } of played) for (const text of [scenario, ...threads]) expect(page).toContain(text);
});

// The original's messages show role and content; ours say more.
function withBareMessages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBareMessages);
  if (typeof value !== 'object' || value === null) return value;
  if ('role' in value && 'content' in value) return { role: value.role, content: value.content };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withBareMessages(item)]));
}
