import type { Decision, Verdict } from '../graph/decision';
import type { StateEdit } from '../graph/edit-state';

type Item =
  | {
      readonly kind: 'decision';
      readonly decision: Decision;
      readonly settle: (verdict: Verdict | Promise<Verdict>) => void;
    }
  | {
      readonly kind: 'edit';
      readonly edit: StateEdit;
      readonly settle: () => void;
      readonly refuse: (error: unknown) => void;
    };

/** Who takes what has come in. */
export interface Desk {
  /** Its verdict, or the promise of one where another run is to judge. */
  judge(decision: Decision): Verdict | Promise<Verdict>;
  /** @throws what the sender is to be told. */
  edit(edit: StateEdit): void;
}

/** Decisions and edits of the state that have come in. Handlers only put them here; the loop takes them out. */
export class Inbox {
  private items: Item[] = [];

  get isEmpty(): boolean {
    return this.items.length === 0;
  }

  /** Resolves with the verdict, once the loop has judged. */
  put(decision: Decision): Promise<Verdict> {
    return new Promise((settle) => this.items.push({ kind: 'decision', decision, settle }));
  }

  /** Resolves once the loop has edited the state, or rejects with why it has not. */
  putEdit(edit: StateEdit): Promise<void> {
    return new Promise((settle, refuse) => this.items.push({ kind: 'edit', edit, settle, refuse }));
  }

  /** Hands over everything that is in, in the order it came; gives how many there were. */
  drain(desk: Desk): number {
    const items = this.items;
    this.items = [];
    for (const item of items) {
      switch (item.kind) {
        case 'decision':
          item.settle(desk.judge(item.decision));
          break;
        case 'edit':
          try {
            desk.edit(item.edit);
            item.settle();
          } catch (error) {
            item.refuse(error);
          }
          break;
        default:
          item satisfies never;
      }
    }
    return items.length;
  }
}
