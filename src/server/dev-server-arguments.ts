/** The search attributes that the library writes, registered on every server that it starts. */
export const abeyanceSearchAttributes: SearchAttributes = {
  AbeyanceStatus: 'Keyword',
  AbeyanceWaitingFor: 'KeywordList',
};

/**
 * The dynamic configuration of a started server. The stock dev server polls each queue 20 times a second and rounds
 * timers up to a second, a floor of 50 ms under every task.
 */
export const tunedDynamicConfig: Readonly<Record<string, string>> = {
  'history.transferProcessorMaxPollRPS': '1000',
  'history.timerProcessorMaxPollRPS': '1000',
  'history.visibilityProcessorMaxPollRPS': '1000',
  'history.timerProcessorMaxTimeShift': '"1ms"',
  'system.enableActivityEagerExecution': 'true',
};

export type SearchAttributeType = 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList';

/** Search attribute names with their types. */
export type SearchAttributes = Readonly<Record<string, SearchAttributeType>>;

export interface DevServerSettings {
  readonly ip: string;
  readonly port: number;
  /** Without it the server runs without its UI. */
  readonly uiPort?: number;
  /** Without it the server keeps everything in memory. */
  readonly dbFilename?: string;
  readonly searchAttributes: SearchAttributes;
}

/** Returns the arguments of `temporal` that start a tuned dev server with these settings. */
export function devServerArguments(settings: DevServerSettings): readonly string[] {
  const { ip, port, uiPort, dbFilename, searchAttributes } = settings;
  return [
    ...['server', 'start-dev', '--ip', ip, '--port', String(port), '--log-level', 'error'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(dbFilename === undefined ? [] : ['--db-filename', dbFilename]),
    ...pairs('--dynamic-config-value', tunedDynamicConfig),
    ...pairs('--search-attribute', searchAttributes),
  ];
}

function pairs(flag: string, values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
}
