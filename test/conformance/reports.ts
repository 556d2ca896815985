/** Where a reported fault is tested. */
export type Covered =
  /** By cases of that id, on both drivers. */
  | { readonly by: 'cases' }
  /** By tests named by the id in that file, or in `reports.test.ts`: it takes more than the words both drivers share. */
  | { readonly by: 'tests'; readonly file?: string };

/** A fault that users of LangGraph (L) or Temporal (T) reported, restated; an issue's number is one place it was seen. */
export interface Report {
  readonly id: string;
  readonly seenIn: string;
  readonly fault: string;
  readonly covered: Covered;
}

const CASES: Covered = { by: 'cases' };
const TESTS: Covered = { by: 'tests' };
const testsIn = (file: string): Covered => ({ by: 'tests', file });

/** Every report that is about something we do. */
export const reports: readonly Report[] = [
  row('L01', 'langgraph#7034', 'a plain "go on" crashes', CASES),
  row('L03', 'langgraph#8836', 'answers under ids that match nothing are swallowed', CASES),
  row('L05', 'langgraph#6956', '`next` is empty while a node waits at its second question', CASES),
  row('L07', 'langgraph#6533', 'answers of two gated tools reach the wrong one when timing differs', CASES),
  row('L09', 'langgraph#6208', 'one tool asks, so all tools of that message run again', CASES),
  row('L10', 'langgraph#8579', 'one bare answer is taken for several open questions', CASES),
  row('L13', 'langgraph#2870', 'an answer for a subgraph’s gate passes the next gate too', CASES),
  row('L14', 'langgraph#4796', 'after a pause a subgraph starts over', CASES),
  row('L15', 'langgraph#7780', 'all before a question in a loop runs again with each answer', CASES),
  row('L18', 'langgraphjs#1273', 'after a pause the streamed values hold only the question', CASES),
  row('L20', 'langchainjs#11125', 'rejecting one call drops the approved ones', CASES),
  row('L22', 'langchain#38838', 'a typo in the approval config removes the gate', TESTS),
  row('L23', 'langchain#33787', 'after an edit the model sends its original call again', CASES),
  row('L24', 'auxilia PR#93', 'a decision of a wrong count bricks the gate', CASES),
  row('L26', 'langgraphjs#1109', 'the update beside an answer is lost', CASES),
  row('L28', 'langgraph#4007', 'a subgraph that shares a list key doubles the list', CASES),
  row('L29', 'langgraph#5829', 'goto runs its target and the normal edge', CASES),
  row('L32', 'langgraph#6486', 'a throwing tool kills the run', CASES),
  row('L34', 'langgraphjs 1.7.3', 'a BigInt in the state makes the thread unreadable later', CASES),
  row('L36', 'langgraphjs#1738', 'the step limit is unclear, and counts anew after each answer', CASES),
  row('L38', 'kimi-cli#1823', 'no deadline for approvals', CASES),
  row('L39', 'langchain#40166', 'a call edited into another tool skips that tool’s gate', CASES),
  row('L40', 'cap-js/agents#93', 'a denied call is reported as done', CASES),
  row('T01', 'money-transfer-demo#8', 'an approval that is sent before the run waits is dropped', CASES),
  row('T03', 'sdk-typescript#444', 'a misspelt signal succeeds and vanishes', TESTS),
  row('T05', 'features#467', 'updates are dropped at the end of a run', TESTS),
  row(
    'T07',
    'temporal#1289',
    'messages that arrive at a roll-over are lost or block it',
    testsIn('workflows/roll-over'),
  ),
  row('T08', 'effect-temporal#55', 'a client’s retry runs the change again', CASES),
  row('T09', 'temporal#5303', '"finished" and "not found" look alike', CASES),
  row('T11', 'features#723', 'a value over 2 MB is retried for ever', TESTS),
  row('T13', 'temporal#1069', 'a long loop is terminated at 51,200 events', testsIn('workflows/long-runs')),
  row('T15', 'sdk-typescript#459', 'a plain error in workflow code retries the task for ever', CASES),
  row('T16', 'sdk-typescript#1533', 'a replay differs: timers, ids, clock', CASES),
  row('T17', 'sdk-typescript#685', 'what workflow code cannot have is found out late', TESTS),
  row('T19', 'features#482', 'a malformed message fails the run', CASES),
  row('T20', 'sdk-python#1660', 'a process without memory cannot find the waiting run', TESTS),
  row('T21', 'temporal#6411', 'the state of a failed or unserved run cannot be read', CASES),
];

function row(id: string, seenIn: string, fault: string, covered: Covered): Report {
  return { id, seenIn, fault, covered };
}
