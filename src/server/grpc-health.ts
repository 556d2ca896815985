import { type ClientHttp2Session, connect } from 'node:http2';

const service = 'temporal.api.workflowservice.v1.WorkflowService';

interface Reply {
  /** The gRPC status, 0 for OK. */
  readonly status: number;
  readonly message: Buffer;
}

/**
 * Says whether the Temporal frontend at `address` (`host:port`, no TLS) is serving and knows `namespace`. Speaks gRPC
 * over plain HTTP/2, so that no client library is needed. Never rejects; `false` after `timeoutMs` milliseconds.
 *
 * @example
 * const up = await isServing('127.0.0.1:7233', 'default', 1_000);
 */
export async function isServing(address: string, namespace: string, timeoutMs: number): Promise<boolean> {
  const session = connect(`http://${address}`);
  // Every failure also ends the pending call; without a listener it would end the program.
  session.on('error', () => undefined);
  const timeout = setTimeout(() => session.destroy(), timeoutMs);
  try {
    const health = await call(session, '/grpc.health.v1.Health/Check', stringField(1, service));
    if (health.status !== 0 || !isServingStatus(health.message)) return false;
    const description = await call(session, `/${service}/DescribeNamespace`, stringField(1, namespace));
    return description.status === 0;
  } catch {
    return false;
  } finally {
    clearTimeout(timeout);
    session.destroy();
  }
}

function call(session: ClientHttp2Session, path: string, message: Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const chunks: Buffer[] = [];
    let status: number | undefined;
    const readStatus = (headers: Record<string, unknown>) => {
      if (headers['grpc-status'] !== undefined) status = Number(headers['grpc-status']);
    };
    // A reply that is only an error carries its status in the headers.
    request.on('response', readStatus);
    request.on('trailers', readStatus);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', reject);
    request.on('close', () => {
      if (status === undefined) reject(new Error(`no gRPC reply from ${path}`));
      else resolve({ status, message: Buffer.concat(chunks).subarray(5) });
    });
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(message.length, 1);
    request.end(Buffer.concat([frame, message]));
  });
}

/** A protobuf message with one short string field. */
function stringField(number: number, value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

/** `HealthCheckResponse { status: SERVING }`: field 1, varint 1. */
function isServingStatus(message: Buffer): boolean {
  return message.equals(Buffer.from([0x08, 0x01]));
}
