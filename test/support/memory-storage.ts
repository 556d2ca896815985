import { randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ExternalStorage, StorageDriverClaim, type Payload, type StorageDriver } from '@temporalio/common';
import { temporal } from '@temporalio/proto';

const PayloadMessage = temporal.api.common.v1.Payload;

/** Keeps large payloads in this process, compressed: worker, client and replay of one test file share it. */
export class MemoryStorage implements StorageDriver {
  readonly name = 'memory';
  readonly type = 'test.memory';
  private readonly kept = new Map<string, Uint8Array>();

  get size(): number {
    return this.kept.size;
  }

  async store(_: unknown, payloads: Payload[]): Promise<StorageDriverClaim[]> {
    return payloads.map((payload) => {
      const key = randomUUID();
      this.kept.set(key, gzipSync(PayloadMessage.encode(payload).finish(), { level: 1 }));
      return new StorageDriverClaim({ key });
    });
  }

  async retrieve(_: unknown, claims: StorageDriverClaim[]): Promise<Payload[]> {
    return claims.map(({ claimData: { key = '' } }) => {
      const kept = this.kept.get(key);
      if (!kept) throw new Error(`nothing is kept under ${key}`);
      return PayloadMessage.decode(gunzipSync(kept));
    });
  }

  converter(): { readonly externalStorage: ExternalStorage } {
    return { externalStorage: new ExternalStorage({ drivers: [this] }) };
  }
}
