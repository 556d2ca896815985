import {
  Client,
  Connection,
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type ConnectionOptions,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { GraphDescription } from '../graph/compiled-graph';
import { messageOf } from '../graph/errors';
import type { Question } from '../graph/question';
import type { HistoryInput } from '../trace/history-event';
import { graphQuery, pendingQuery } from '../workflows/messages';
import { CliError, EXIT } from './cli-failure';
import { findThreads } from './cli-find-threads';
import { readHistories } from './read-histories';
import type { GlobalOptions } from './cli-globals';
import { slowly } from './cli-progress';
import type { ListedThread, ThreadFilter } from './cli-threads';
import { askRun, lookUp, type ThreadFacts } from './read-thread';
import { ServerThread } from './server-thread';
import { RunStarter, type RunRequest } from './start-run';

const DEFAULT_ADDRESS = 'localhost:7233';

// A page of a long history may be over gRPC's default limit of 4 MB.
const CHANNEL = { 'grpc.max_receive_message_length': 128 * 1024 * 1024 };

/** What the commands ask of a server: all that needs Temporal's client, which takes its time to load. */
export class Session {
  private constructor(
    private readonly connection: Connection,
    private readonly client: Client,
  ) {}

  /** Connects as the options, the environment and the profile say. @throws {CliError} `NO_SERVER`, `CONFIG_INVALID`. */
  static async open(globals: GlobalOptions): Promise<Session> {
    const { connectionOptions, namespace } = settingsOf(globals);
    const connection = await connect({ ...connectionOptions, connectTimeout: globals.clientConnectTimeout * 1_000 });
    return new Session(connection, new Client({ connection, namespace, identity: globals.identity }));
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  thread(threadId: string, runId?: string): ServerThread {
    return new ServerThread(this.client, threadId, undefined, runId);
  }

  lookUp(threadId: string, runId?: string): Promise<ThreadFacts> {
    return lookUp(this.client, threadId, runId);
  }

  threads(filter: ThreadFilter): AsyncGenerator<ListedThread> {
    return findThreads(this.client, filter);
  }

  /** Starts a run and gives its id. */
  async start(request: RunRequest, taskQueue: string): Promise<string> {
    const starter = new RunStarter(this.client, taskQueue);
    const handle = await starter.start(request, (options) => this.client.workflow.start(request.graph.name, options));
    return handle.firstExecutionRunId;
  }

  /** The open questions of a thread: as it published them, and only where they are too large for that from the run. */
  async questionsOf(facts: ThreadFacts): Promise<readonly Question[]> {
    const published = (facts.isRunning && facts.published?.questions) || [];
    if (!published.some(({ omitted }) => omitted)) return published;
    return askRun(this.client, facts, pendingQuery).catch(() => published);
  }

  graphOf(facts: ThreadFacts): Promise<GraphDescription> {
    return askRun(this.client, facts, graphQuery);
  }

  /** The histories of all runs of a thread, as far as the server still has them, or of one. */
  async historiesOf(threadId: string, runId: string | undefined): Promise<readonly HistoryInput[]> {
    return readHistories(this.client, threadId, runId);
  }

  /** Sends a decision, which a worker has to take. @throws {CliError} `THREAD_UNREACHABLE` when none did in time. */
  async within<T>(seconds: number, send: () => Promise<T>): Promise<T> {
    try {
      return await this.client.withDeadline(Date.now() + seconds * 1_000, send);
    } catch (error) {
      if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
      const message = `No worker took the decision within ${seconds} s; it may still take effect. Start a worker, and look with: abeyance show`;
      throw new CliError('THREAD_UNREACHABLE', EXIT.noWorker, message, { cause: error });
    }
  }
}

async function connect(options: ConnectionOptions): Promise<Connection> {
  const { address = DEFAULT_ADDRESS } = options;
  try {
    return await slowly(`connecting to ${address}`, 'is it up?', () =>
      Connection.connect({ ...options, address, channelArgs: CHANNEL }),
    );
  } catch (error) {
    const message = `No Temporal server answers at ${address} (${messageOf(error)}). Start one with: abeyance server; or set --address, TEMPORAL_ADDRESS or a profile.`;
    throw new CliError('NO_SERVER', EXIT.noServer, message, { cause: error });
  }
}

function settingsOf({ address, namespace, profile }: GlobalOptions): {
  readonly connectionOptions: ConnectionOptions;
  readonly namespace: string;
} {
  try {
    const config = loadClientConnectConfig({ profile });
    const { address: configured, apiKey, tls, metadata } = config.connectionOptions;
    return {
      connectionOptions: { address: address ?? configured, apiKey, tls, metadata },
      namespace: namespace ?? config.namespace ?? 'default',
    };
  } catch (error) {
    const message = `Temporal's configuration cannot be used: ${messageOf(error)}. Check --profile, TEMPORAL_PROFILE and the file TEMPORAL_CONFIG_FILE names.`;
    throw new CliError('CONFIG_INVALID', EXIT.usage, message, { cause: error });
  }
}

// gRPC's status codes, as far as they mean something of their own here.
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const PERMISSION_DENIED = 7;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** What Temporal's client threw, as a failure that says what to do; anything else as it is. */
export function fromServerError(error: unknown): unknown {
  if (error instanceof NamespaceNotFoundError) {
    const message = `The server has no namespace "${error.namespace}". Check --namespace, TEMPORAL_NAMESPACE and the profile.`;
    return new CliError('NAMESPACE_UNKNOWN', EXIT.failure, message, { cause: error });
  }
  const cause = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(cause)) return error;
  const details = cause.details || cause.message;
  switch (Number(cause.code)) {
    case UNAVAILABLE:
    case DEADLINE_EXCEEDED:
      return new CliError('NO_SERVER', EXIT.noServer, `The server does not answer: ${details}. Is it up? Try again.`);
    case UNAUTHENTICATED:
    case PERMISSION_DENIED: {
      const message = `The server refused: ${details}. Check the API key or certificate of the profile.`;
      return new CliError('NOT_PERMITTED', EXIT.failure, message);
    }
    case INVALID_ARGUMENT:
      return new CliError('INVALID_ARGUMENT', EXIT.usage, `The server cannot take this: ${details}`);
    default:
      return new CliError('SERVER_FAILED', EXIT.failure, `The server failed: ${details}`);
  }
}
