import type { GraphRunner } from 'abeyance';
import { SCENARIOS } from './scenarios';
import type { SideEffects } from './side-effects';
import { Stage, type ScenarioReport } from './stage';

/** Plays every scenario of the chapter, one after the other. */
export async function runChapter(
  graphs: GraphRunner,
  effects: SideEffects,
  driver: ScenarioReport['driver'],
  mode: ScenarioReport['mode'] = 'mock',
): Promise<readonly ScenarioReport[]> {
  const reports: ScenarioReport[] = [];
  for (const [name, play] of Object.entries(SCENARIOS)) {
    const stage = new Stage(graphs, effects, mode);
    const before = performance.now();
    await play(stage);
    reports.push(stage.report(name, driver, before));
  }
  return reports;
}
