import { answers } from './cases/answers';
import { approvals } from './cases/approvals';
import { breakpoints } from './cases/breakpoints';
import { commands } from './cases/commands';
import { decisions } from './cases/decisions';
import { errors } from './cases/errors';
import { features } from './cases/features';
import { fidelity } from './cases/fidelity';
import { local } from './cases/local';
import { messages } from './cases/messages';
import { once } from './cases/once';
import { outside } from './cases/outside';
import { parallel } from './cases/parallel';
import { questions } from './cases/questions';
import { routing } from './cases/routing';
import { state } from './cases/state';
import { streams } from './cases/streams';
import { subgraphs } from './cases/subgraphs';
import { supersteps } from './cases/supersteps';
import { threads } from './cases/threads';
import { tools } from './cases/tools';
import { rulings } from './cases/rulings';
import type { ConformanceCase } from './conformance-case';
import type { Scene } from './scene';

/** Every case, in the order it is shown. */
export const catalogue: readonly ConformanceCase[] = [
  ...state,
  ...fidelity,
  ...messages,
  ...supersteps,
  ...routing,
  ...commands,
  ...questions,
  ...parallel,
  ...answers,
  ...decisions,
  ...once,
  ...local,
  ...approvals,
  ...tools,
  ...errors,
  ...threads,
  ...subgraphs,
  ...breakpoints,
  ...features,
  ...outside,
  ...rulings,
  ...streams,
];

/** Every scene that a case is played on. */
export const scenes: readonly Scene[] = [...new Set(catalogue.map(({ scene }) => scene))];
