import { z } from 'zod';
import { interrupt, nodeContext, type StreamMode } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { all, lines } from '../../support/read-stream';
import { cases } from '../conformance-case';
import { scene } from '../scene';
import { refusal, type Stage, type Values } from '../stage';

const told = scene(
  'streams_told',
  () => ({ state: { log: Log, answer: z.any().optional() }, nodes: ['begin', 'ask', 'end'] }),
  {
    bodies: {
      begin: async () => {
        nodeContext().write('half');
        nodeContext().write('whole');
        return { log: 'begin' };
      },
      ask: async () => ({ answer: interrupt('go?'), log: 'ask' }),
      end: async ({ answer }: { readonly answer: unknown }) => {
        if (answer === 'fail') throw new Error('it fails');
        return { log: 'end' };
      },
    },
  },
);

/** What a run tells whoever carries it on, until it stops. */
function streamed(stage: Stage, modes: readonly StreamMode[], input: Values = {}): Promise<any[]> {
  return all(stage.graphs.stream(stage.graph, input, { threadId: stage.threadId, modes }));
}

/** What the whole thread tells a reader, once it has ended. */
function watched(stage: Stage, after?: string): Promise<any[]> {
  const modes = ['values', 'updates', 'tasks', 'questions'] as const;
  return all(stage.thread().stream({ modes, ...(after !== undefined && { after }) }));
}

const whole = cases('L18', told, {
  'the last values before a pause hold the whole state beside the question': async (stage) => {
    const events = await streamed(stage, ['values']);
    expect(events.at(-1)).toMatchObject({
      kind: 'values',
      values: { log: ['begin'], __interrupt__: [{ id: '2.ask:0', value: 'go?' }] },
    });
  },
  'a stream that goes on with the answer begins with the whole state too': async (stage) => {
    await stage.invoke();
    await stage.thread().resume('yes');
    await stage.stop();
    const values = (await watched(stage)).filter(({ kind }) => kind === 'values');
    for (const { values: one } of values.slice(2)) expect(one.log.slice(0, 1)).toEqual(['begin']);
    expect(values.at(-1)).toMatchObject({ values: { log: ['begin', 'ask', 'end'], answer: 'yes' } });
  },
});

const order = cases('streaming', told, {
  'a run tells its state, tasks, writes and questions in order, up to the pause': async (stage) => {
    expect(lines(await streamed(stage, ['values', 'updates', 'tasks', 'questions']))).toEqual([
      '0 values {"log":[]}',
      '1.begin#1 starts',
      '1.begin#1 done',
      '1.begin#1 updates [{"log":"begin"}]',
      '1 values {"log":["begin"]}',
      '2.ask#1 starts',
      '2.ask#1 paused',
      'open: 2.ask:0',
      '2 values {"log":["begin"]} asks 2.ask:0',
    ]);
  },
  'a reader goes on after any offset without a gap or a repeat': async (stage) => {
    await stage.invoke();
    await stage.resume('yes');
    const events = await watched(stage);
    const middle = Math.floor(events.length / 2);
    expect(lines(await watched(stage, events[middle].offset))).toEqual(lines(events.slice(middle + 1)));
    expect(new Set(events.map(({ offset }) => offset)).size).toBe(events.length);
  },
  'a question that was answered is told as open no more': async (stage) => {
    await stage.invoke();
    await stage.resume('yes');
    const asked = (await watched(stage)).filter(({ kind }) => kind === 'questions');
    expect(asked.map(({ questions }) => questions.map(({ id }: { id: string }) => id))).toEqual([['2.ask:0'], []]);
  },
  'what a node writes while it runs comes in its order, before the node’s end': async (stage) => {
    const events = await streamed(stage, ['custom', 'tasks']);
    const end = events.findIndex(({ kind }) => kind === 'task-end');
    const written = events.filter(({ kind }) => kind === 'custom');
    expect(written.map(({ task, index, chunk }) => [task, index, chunk])).toEqual([
      ['1.begin', 0, 'half'],
      ['1.begin', 1, 'whole'],
    ]);
    expect(events.indexOf(written[1])).toBeLessThan(end);
  },
  'a run that fails ends every stream with its failure': async (stage) => {
    await stage.invoke();
    await stage.thread().resume('fail');
    expect(await refusal(() => stage.stop())).toMatchObject({ code: 'NODE_FAILED' });
    expect((await watched(stage)).at(-1)).toMatchObject({
      kind: 'end',
      status: 'failed',
      error: { code: 'NODE_FAILED', node: 'end' },
    });
  },
});

export const streams = [...whole, ...order];
