import type { NativeConnection } from '@temporalio/worker';
import { statusAttribute, waitingForAttribute } from '../workflows/pending-in-the-open';

/**
 * Tells which of our search attributes a namespace lacks, with the command that adds them; undefined where none is
 * missing, or the server does not say.
 */
export async function missingSearchAttributes(
  connection: NativeConnection,
  namespace: string,
): Promise<string | undefined> {
  let known: readonly string[];
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    known = Object.values(config?.customSearchAttributeAliases ?? {});
  } catch {
    return undefined;
  }
  const wanted = [
    { name: statusAttribute.name, type: 'Keyword' },
    { name: waitingForAttribute.name, type: 'KeywordList' },
  ];
  const missing = wanted.filter(({ name }) => !known.includes(name));
  if (missing.length === 0) return undefined;
  const flags = missing.map(({ name, type }) => `--name ${name} --type ${type}`).join(' ');
  return `temporal operator search-attribute create --namespace ${namespace} ${flags}`;
}
