/**
 * `abeyance/testing`: runs graphs without a server, and stands in for models.
 *
 * @module
 */
export { InMemoryGraphs } from './in-memory-graphs';
export { ScriptEndedError, scriptedModel, type ScriptedReply, type ScriptedTurn } from './scripted-model';
export { recordHistory, replayHistories, type RecordedHistory, type ReplayResult } from './histories';
