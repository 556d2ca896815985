import type { GraphRunner } from 'abeyance';
import { catalogue } from './catalogue';
import type { ConformanceCase } from './conformance-case';
import { Stage } from './stage';

/** Where cases are played. */
export interface Driver {
  readonly name: string;
  /** Called when the tests begin. */
  readonly graphs: () => GraphRunner;
  /** A thread id that nobody else uses. */
  readonly threadId: (name: string) => string;
  /** How many cases are played at a time. */
  readonly atOnce: number;
  /** How often a case is played before it has failed: on a busy machine a wait may run out. Said at the end. */
  readonly tries: number;
}

type Outcome = { readonly id: string; readonly tries: number; readonly failure?: { readonly thrown: unknown } };

/** Plays every case of the catalogue, or of a part of it, on a driver, and makes a test of each; at the end it says how many there were. */
export function playAll(driver: Driver, list: readonly ConformanceCase[] = catalogue): void {
  const outcomes = new Map<string, Outcome>();
  let playing: Promise<Outcome>[] = [];

  beforeAll(() => {
    const free = slots(driver.atOnce);
    playing = list.map((one) => free(() => play(driver, one)));
  });

  it.each(list.map(({ id }, index) => [id, index] as const))('%s', async (_, index) => {
    const outcome = (await playing[index]) as Outcome;
    outcomes.set(outcome.id, outcome);
    if (outcome.failure) throw outcome.failure.thrown;
  });

  it(`every case of the catalogue was played on ${driver.name}, none twice`, () => {
    expect([...outcomes.keys()].sort()).toEqual(list.map(({ id }) => id).sort());
  });

  afterAll(() => {
    const passed = [...outcomes.values()].filter(({ failure }) => failure === undefined).length;
    const again = [...outcomes.values()].filter(({ tries }) => tries > 1).map(({ id }) => id);
    const note = again.length > 0 ? `; played again: ${again.join(' | ')}` : '';
    process.stdout.write(`conformance (${driver.name}): ${outcomes.size} cases, ${passed} passed${note}\n`);
  });
}

// A case that hangs fails, and the others are played all the same.
const LONGEST = 60_000;

async function play(driver: Driver, one: ConformanceCase, tries = 1): Promise<Outcome> {
  const { id, scene, play: played } = one;
  try {
    await inTime(played(new Stage(driver.graphs(), scene, driver.threadId(scene.name))));
    return { id, tries };
  } catch (thrown) {
    return tries < driver.tries ? play(driver, one, tries + 1) : { id, tries, failure: { thrown } };
  }
}

function inTime(playing: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the case has not ended within ${LONGEST / 1000} s`)), LONGEST);
    playing.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

/** Runs what it is given as soon as fewer than so many others run. */
function slots(limit: number): <T>(run: () => Promise<T>) => Promise<T> {
  let taken = 0;
  const queue: (() => void)[] = [];
  return async (run) => {
    if (taken === limit) await new Promise<void>((resolve) => queue.push(resolve));
    else taken += 1;
    try {
      return await run();
    } finally {
      const next = queue.shift();
      if (next) next();
      else taken -= 1;
    }
  };
}
