import { publicHeaders, publicUrl, redactJson, redactorOf } from '../../src/activities/secrets';

const plain = (text: string): string => text;

test.each([
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'apikey',
  'ocp-apim-subscription-key',
  'x-auth-token',
  'x-amz-security-token',
  'cf-access-client-secret',
  'helicone-auth',
  'x-session',
])('the header %s is not recorded', (name) => {
  expect(publicHeaders({ [name]: 'value' }, plain)).toEqual({ [name]: 'not recorded' });
});

test('nor is any header that holds a bearer', () => {
  expect(publicHeaders({ 'x-any': 'Bearer abc', 'x-other': 'basic abc' }, plain)).toEqual({
    'x-any': 'not recorded',
    'x-other': 'not recorded',
  });
});

test.each([
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'www-authenticate',
  'openai-organization',
  'x-request-id',
  'sec-fetch-mode',
  'user-agent',
  'x-cache',
  ':authority',
])('the header %s is', (name) => {
  expect(publicHeaders({ [name]: 'value' }, plain)).toEqual({ [name]: 'value' });
});

test.each([
  ['https://api.example.com/v1/chat', 'https://api.example.com/v1/chat'],
  ['https://x/y?api-version=7&api-key=abc', 'https://x/y?api-version=7&api-key=not recorded'],
  ['https://x/y?key=a%20b#token=c', 'https://x/y?key=not recorded#token=not recorded'],
  ['https://x/y?X-Amz-Signature=abc;sig=d', 'https://x/y?X-Amz-Signature=not recorded;sig=not recorded'],
  ['https://ana:swordfish@x/y', 'https://not recorded@x/y'],
  ['/elsewhere?access_token=abc', '/elsewhere?access_token=not recorded'],
  ['no url at all', 'no url at all'],
])('the URL %s reads %s', (url, read) => {
  expect(publicUrl(url)).toBe(read);
});

test('a secret is found again wherever it is repeated, whole or in part of a text, as key or value', () => {
  const basic = Buffer.from('ana:sword-and-fish').toString('base64');
  const headers = {
    authorization: 'Bearer abcdefghij',
    'proxy-authorization': `Basic ${basic}`,
    cookie: 'a=1; b=cookievalue',
  };
  const redact = redactorOf(
    'https://x?key=query%2Fsecret',
    [headers, { 'set-cookie': 'a=newcookie1; Domain=x.example.com\nb=newcookie2' }],
    ['sk-1234567'],
  );
  const given = {
    'sk-1234567': ['abcdefghij', 'say sword-and-fish twice: sword-and-fish'],
    more: {
      text: `cookievalue query/secret query%2Fsecret newcookie1 newcookie2 ${basic}`,
      n: 1,
      nothing: null,
      yes: true,
    },
  };
  expect(redactJson(given, redact)).toEqual({
    'not recorded': ['not recorded', 'say not recorded twice: not recorded'],
    more: { text: Array(6).fill('not recorded').join(' '), n: 1, nothing: null, yes: true },
  });
  expect(redact('Domain=x.example.com')).toBe('Domain=x.example.com');
});

test('what is short is not looked for: it would be found in honest text', () => {
  expect(redactorOf('https://x', [], ['none'])('none of it')).toBe('none of it');
});
