import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

import t from 'tap';

import { resources } from '../../../src/contract/records.ts';
import { callCommand } from '../../_command.ts';
import { keyFor, startExampleServer } from '../../_server.ts';
import { createAuthority } from '../../server/sending/_certificates.ts';
import { answers, type Behaviour, listen, silentAddress, startService } from '../_service.ts';

/* What pull, export and mcp say of a service and a key: they have them in the same way, and tell of them in the same words. */

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());
const folder = t.testdir();
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const key = file('key', server.key);
const wrongKey = server.key.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));

const commands = {
  pull: ['pull', '--into', join(folder, 'copy.sqlite')],
  export: ['export', 'jobs', '--out', join(folder, 'jobs.csv')],
  mcp: ['mcp'],
};
const { pull, export: exporting } = commands;

t.test('an address or a key that can’t be one is a sentence, in which neither is shown', async (t) => {
  const other = file('other', '-----BEGIN PRIVATE KEY-----');
  const address = /--url must be an http or https address .*, not ".+"\.$/m;
  const noKey = /A key is missing: name its file with --key-file, or set API_KEY\.$/m;
  const cases: [args: string[], sentence: RegExp, environment?: Record<string, string>][] = [
    [['--url', 'nowhere', '--key-file', key], address],
    [['--url', 'ftp://x', '--key-file', key], address],
    [['--url', `${server.url}/portal`, '--key-file', key], address],
    [
      ['--url', 'http://u:PRIVATE@h/?api_key=PRIVATE', '--key-file', key],
      /, not "http:\/\/u:\*\*\*@h\/\?api_key=\*\*\*"\.$/m,
    ],
    [['--key-file', join(folder, 'none')], /--key-file names ".*none", which can't be read \(ENOENT\)\.$/m],
    [['--key-file', folder], /--key-file names ".*", which is not a file\.$/m],
    [['--key-file', file('empty', '\n')], /--key-file names ".*empty", which is empty\.$/m],
    [['--key-file', other], /The file ".+" has no API key, which looks like prefix\.company\.id\.secret\.$/m],
    [
      ['--key-file', `fl.acme.k1.${'PRIVATE'.repeat(6)}x`],
      /--key-file names "fl\.acme\.k1\.\*\*\*", which can't be read/,
    ],
    [[], noKey],
    [[], noKey, { API_KEY: ' \n' }],
    [[], /API_KEY has no API key, which looks like/, { API_KEY: 'PRIVATE' }],
  ];
  for (const command of Object.values(commands))
    for (const [args, sentence, environment] of cases) {
      const outcome = await callCommand([...command, '--url', server.url, ...args], environment);
      t.match(outcome, { exitCode: 1, stdout: '', stderr: sentence }, [...command, ...args].join(' '));
      t.equal(outcome.stderr.trim().split('\n').length, 1);
      t.notMatch(outcome.stderr, /PRIVATE/);
    }
});

t.test('a key is good as an editor or a shell has kept it', async (t) => {
  const asked = [...exporting, '--url', server.url];
  const edited = file('edited', `\ufeff${server.key} \r\n\r\n`);
  t.match(await callCommand([...asked, '--key-file', edited]), { exitCode: 0, stderr: '' });
  t.match(await callCommand(asked, { API_KEY: `${server.key}\r\n` }), { exitCode: 0, stderr: '' });
});

t.test('a service that doesn’t answer, or not with this key, is told in a sentence', async (t) => {
  const silent = await silentAddress(t);
  const invoicesOnly = await keyFor(server.engine, 'brennan', ['invoices:read']);
  const own = createTlsServer(createAuthority().issue({ names: ['localhost'] }));
  const { port } = await listen(t, own);
  const cases: [args: string[], environment: Record<string, string>, sentence: RegExp][] = [
    [[], { API_KEY: wrongKey }, /doesn't take the key \(invalid_key\)\. Ask for a new one\.$/m],
    [['--url', silent], {}, /^fieldledger: http:\/\/127\.0\.0\.1:\d+ doesn't answer \(ECONNREFUSED\)\.$/m],
    [
      ['--url', 'http://service.invalid'],
      { http_proxy: silent.replace('//', '//user:password@') },
      /service\.invalid doesn't answer \(ECONNREFUSED\)\. HTTP_PROXY names the proxy "http:\/\/127\.[\d.:]+", which is used unless NO_PROXY has the host\.$/m,
    ],
    [
      ['--url', 'http://service.invalid'],
      { HTTP_PROXY: 'socks5://127.0.0.1:1' },
      /HTTP_PROXY must be the http or https address of a proxy/,
    ],
    [
      ['--url', `https://localhost:${port}`],
      {},
      /The certificate of https:.* is refused \(.+\)\. .*NODE_EXTRA_CA_CERTS\.$/m,
    ],
  ];
  for (const command of [pull, exporting])
    for (const [args, environment, sentence] of cases) {
      const given = { API_KEY: server.key, ...environment };
      const outcome = await callCommand([...command, '--url', server.url, ...args], given);
      t.match(outcome, { exitCode: 1, stdout: '', stderr: sentence }, [...command, ...args].join(' '));
      for (const secret of [server.key, wrongKey, 'password'])
        t.notOk(outcome.stderr.includes(secret.slice(-20)));
    }
  t.match(await callCommand([...exporting, '--url', server.url], { API_KEY: invoicesOnly }), {
    exitCode: 1,
    stderr: /refuses this \(GET \/api\/v1\/jobs: 403 missing_scope/,
  });
  const { hostname, host } = new URL(server.url);
  for (const NO_PROXY of ['*', `x.example, ${hostname}`, `x.example, ${host}`]) {
    const around = { API_KEY: server.key, HTTP_PROXY: silent, NO_PROXY };
    t.match(await callCommand([...exporting, '--url', server.url], around), { exitCode: 0 }, NO_PROXY);
  }
});

t.test('a service that is no API, fails, or breaks the contract is told in a sentence', async (t) => {
  const page = (data: unknown[], nextCursor: string | null = null) => answers(200, { data, nextCursor });
  const none = page([]);
  const html = answers(200, '<h1>', { 'Content-Type': 'text/html' });
  const withoutDate: Behaviour = (req, res) => {
    res.sendDate = false;
    none(req, res);
  };
  const job = { id: 'job_0001', title: { of: 'a job' } };
  const beforeJobs = resources.slice(0, resources.indexOf('jobs')).map(() => none);
  const breaks = (how: string) => `breaks the contract of this API (${how}).`;
  const isNone = (path: string) =>
    breaks(`GET ${path}: 200, but this is not an answer of the API, request req-1`);
  const cases: [name: string, behaviours: Behaviour[], sentence: string][] = [
    ['no API', [answers(404, '<h1>')], 'is not the address of this API: it answered with 404.'],
    ['another page', [html], 'is not the address of this API: it answered with 200.'],
    ['a failure later', [none, answers(501, '<h1>')], 'has failed: it answered with 501.'],
    ['another page later', [none, html], isNone(`/api/v1/${resources[1]}`)],
    ['no record', [page([null])], isNone('/api/v1/people')],
    ['no Date', [withoutDate], breaks('The answer has no Date, so nothing can be kept in sync with it')],
    [
      'a circle',
      [none, page([], 'c1'), page([], 'c2'), page([], 'c1')],
      breaks('The cursor c1 leads back to itself'),
    ],
    ['an object for a text', [...beforeJobs, page([job])], breaks('The title of a record is {"of":"a job"}')],
  ];
  for (const [name, behaviours, sentence] of cases) {
    const { url } = await startService(t, behaviours);
    const into = join(folder, `${name}.sqlite`);
    const outcome = await callCommand(['pull', '--url', url, '--key-file', key, '--into', into]);
    t.strictSame(outcome, { exitCode: 1, stdout: '', stderr: `fieldledger: ${url} ${sentence}\n` }, name);
  }
});
