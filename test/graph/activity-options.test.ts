import { START, StateGraph, StateSchema, type NodeActivityOptions } from 'abeyance';
import { z } from 'zod';

const State = new StateSchema({ log: z.string().default('') });

const compileWith = (activity: unknown) => () =>
  new StateGraph(State)
    .addNode('work', { activity: activity as NodeActivityOptions })
    .addEdge(START, 'work')
    .compile({ name: 'test' });

describe('activity options that the server would refuse, run after run, are refused when the graph is compiled', () => {
  test.each<[string, object]>([
    ['startToCloseTimeout', { startToCloseTimeout: '-5 seconds' }],
    ['startToCloseTimeout', { startToCloseTimeout: '10 foo' }],
    ['startToCloseTimeout', { startToCloseTimeout: 0 }],
    ['heartbeatTimeout', { heartbeatTimeout: -1000 }],
    ['scheduleToCloseTimeout', { scheduleToCloseTimeout: NaN }],
    ['scheduleToStartTimeout', { scheduleToStartTimeout: '' }],
    ['taskQueue', { taskQueue: '' }],
    ['taskQueue', { taskQueue: '/_sys/x' }],
    ['taskQueue', { taskQueue: 'x'.repeat(1200) }],
    ['retry.maximumAttempts', { retry: { maximumAttempts: 0 } }],
    ['retry.maximumAttempts', { retry: { maximumAttempts: 1.5 } }],
    ['retry.backoffCoefficient', { retry: { backoffCoefficient: 0.5 } }],
    ['retry.initialInterval', { retry: { initialInterval: 'soon' } }],
    ['retry.maximumInterval', { retry: { maximumInterval: '100ms' } }],
  ])('%s in %j', (option, activity) => {
    expect(compileWith(activity)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(`"work" has ${option}`) }),
    );
  });

  test('also where they are the whole graph’s', () => {
    const build = () =>
      new StateGraph(State)
        .addNode('work')
        .addEdge(START, 'work')
        .compile({ name: 'test', activity: { startToCloseTimeout: -1 } });
    expect(build).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining('Graph "test"') }),
    );
  });

  test.each<object>([
    { startToCloseTimeout: '10 minutes', heartbeatTimeout: '1.5s', scheduleToCloseTimeout: 60_000 },
    { scheduleToStartTimeout: '2 days', taskQueue: 'gpu' },
    { retry: { maximumAttempts: 1, backoffCoefficient: 1, initialInterval: '10ms', maximumInterval: '10ms' } },
  ])('and good ones are taken: %j', (activity) => {
    expect(compileWith(activity)).not.toThrow();
  });

  test('as is a node whose name is too long to build ids from', () => {
    const build = () => new StateGraph(State).addNode('n'.repeat(201));
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }));
  });
});
