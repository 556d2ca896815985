import { graphWorkflow } from 'abeyance/workflow';
import { rolling_loop } from '../support/long-graphs';

it.each([
  [{ events: 19 }, 'events'],
  [{ events: 20.5 }, 'events'],
  [{ bytes: 100 }, 'bytes'],
  [{ bytes: Infinity }, 'bytes'],
])('a budget under which a run could not get on is refused: %j', (continueAsNewAfter, name) => {
  expect(() => graphWorkflow(rolling_loop, { continueAsNewAfter })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(`continueAsNewAfter.${name}`) }),
  );
});
