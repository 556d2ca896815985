import { z } from 'zod';
import { ReducedValue, StateSchema } from 'abeyance';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

const sum = new ReducedValue(z.number().default(0), {
  reducer: (total, more) => {
    holds<Same<typeof total, number>>();
    holds<Same<typeof more, number>>();
    return total + more;
  },
});
const log = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.string(),
  reducer: (lines, line) => {
    holds<Same<typeof lines, string[]>>();
    holds<Same<typeof line, string>>();
    return [...lines, line];
  },
});

const Schema = new StateSchema({ sum, log });
holds<Same<typeof Schema.State.sum, number>>();
holds<Same<typeof Schema.State.log, string[]>>();

// Written in place, it infers just as well.
new StateSchema({
  sum: new ReducedValue(z.number().default(0), {
    reducer: (total, more) => {
      holds<Same<typeof total, number>>();
      holds<Same<typeof more, number>>();
      return total + more;
    },
  }),
});
