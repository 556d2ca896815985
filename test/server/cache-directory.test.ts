import path from 'node:path';
import { cacheDirectory } from '../../src/server/cache-directory';

describe('the cache directory', () => {
  test.each([
    ['ABEYANCE_CACHE_DIR first', { ABEYANCE_CACHE_DIR: '/a', XDG_CACHE_HOME: '/x', HOME: '/h' }, 'linux', '/a'],
    ['then XDG_CACHE_HOME', { XDG_CACHE_HOME: '/x', HOME: '/h' }, 'linux', '/x/abeyance'],
    ['then ~/.cache', { HOME: '/h' }, 'linux', '/h/.cache/abeyance'],
    ['~/Library/Caches on macOS', { HOME: '/h' }, 'darwin', '/h/Library/Caches/abeyance'],
    ['LOCALAPPDATA on Windows', { HOME: '/h', LOCALAPPDATA: '/l' }, 'win32', '/l/abeyance'],
  ] as const)('is %s', (_, env, platform, expected) => {
    expect(cacheDirectory(env, platform)).toBe(path.normalize(expected));
  });
});
