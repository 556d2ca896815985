import type { Command } from 'commander';
import { mermaidOf } from '../graph/mermaid';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { CliError, EXIT } from './cli-failure';
import type { GlobalOptions } from './cli-globals';
import { examples } from './cli-help';
import { Output } from './cli-output';
import { slowly } from './cli-progress';
import type { Session } from './cli-session';
import { take } from './cli-threads';
import type { ThreadFacts } from './read-thread';

interface GraphOptions extends GlobalOptions {
  readonly workflowId?: string;
  readonly runId?: string;
}

export function addGraph(program: Command): void {
  program
    .command('graph')
    .summary('draw a graph as Mermaid')
    .description(
      'Draws the graph of a thread, or of the newest thread of a graph, as Mermaid text. A worker must be up.',
    )
    .argument('[name]', "the graph's name, without -w")
    .option('-w, --workflow-id <id>', 'the thread')
    .option('-r, --run-id <id>', 'a run of it; without it the newest')
    .addHelpText(
      'after',
      examples(['a picture', 'abeyance graph order > order.mmd'], ['as data', 'abeyance graph -w order-42 -o json']),
    )
    .action(graph);
}

async function graph(name: string | undefined, _: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<GraphOptions>();
  const { workflowId, runId } = options;
  if ((name === undefined) === (workflowId === undefined))
    throw new CliError(
      'USAGE',
      EXIT.usage,
      "Give the graph's name, or a thread of it with -w. See: abeyance graph --help",
    );
  const out = new Output(options);
  await withServer(options, async (session) => {
    const facts = name === undefined ? await session.lookUp(workflowId as string, runId) : await newest(session, name);
    const description = await slowly('asking the run', 'is a worker up?', () => session.graphOf(facts));
    out.one(description, () => mermaidOf(description).split('\n').map(visible).join('\n'));
  });
}

async function newest(session: Session, name: string): Promise<ThreadFacts> {
  const { items } = await take(session.threads({ graph: name }), 1);
  const [thread] = items;
  if (thread) return session.lookUp(thread.threadId, thread.runId);
  const message = `No thread runs graph "${name}" in this namespace, so there is nobody to ask. Start one, or check the name with: abeyance list`;
  throw new CliError('GRAPH_UNKNOWN', EXIT.unknownThread, message);
}
