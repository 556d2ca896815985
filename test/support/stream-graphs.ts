import { z } from 'zod';
import { END, inWorkflow, nodeContext, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';

const QUICKLY = { retry: { initialInterval: 1, backoffCoefficient: 1, maximumAttempts: 3 } } as const;

const State = new StateSchema({
  answer: z.json().default(null),
  lines: new ReducedValue(z.array(z.string()).default([]), {
    inputSchema: z.string(),
    reducer: (lines, line) => [...lines, line],
  }),
  fail: z.int().default(0),
});

const staged = (name: string) =>
  new StateGraph(State)
    .addNode('prepare', { activity: QUICKLY })
    .addNode(
      'note',
      inWorkflow(() => {
        nodeContext().write({ noted: true });
        return { lines: 'noted' };
      }),
    )
    .addNode('ask')
    .addNode('finish', { activity: QUICKLY })
    .addEdge(START, 'prepare')
    .addEdge('prepare', 'note')
    .addEdge('note', 'ask')
    .addEdge('ask', 'finish')
    .addEdge('finish', END)
    .compile({ name });

/** Works, notes in workflow code, asks and finishes; `fail` says how many attempts at the first node fail. */
export const stages = staged('stages');

/** The same in runs of some twenty events. */
export const rolling_stages = staged('rolling_stages');
