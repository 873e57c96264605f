import t from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../../src/server/store/migrations/migrate.ts';
import { openWorkplace, until } from '../../_command.ts';
import { engineNames, keyFor, STORY_NOW } from '../../_server.ts';
import { exchangeRaw } from './_raw.ts';
import { jobOf, store } from './_records.ts';

/** Every place of a request where a careless client could put its key. */
function requestsWith(key: string): string[] {
  const right = `Authorization: Bearer ${key}\r\n`;
  const get = (target: string, headers = '') =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`;
  return [
    get('/api/v1/jobs', right),
    get('/api/v1/jobs/job_1', right),
    get('/api/v1/invoices?limit=0', right),
    get(`/api/v1/jobs?key=${key}`, right),
    get(`/api/v1/jobs?${key}`, right),
    get(`/api/v1/jobs?cursor=${key}`, right),
    get(`/api/v1/jobs/${key}`, right),
    get(`/api/v1/${key}`, right),
    get(`/${key}`),
    get(`/${key}?${key}#${key}`),
    get(`http://${key}/api/v1/jobs`, right),
    get('/api/v1/jobs', `Authorization: Basic ${key}\r\n`),
    get('/api/v1/jobs', `Authorization: ${key}\r\n`),
    get('/api/v1/jobs', `Authorization: Bearer ${key}x\r\n`),
    get('/api/v1/jobs', `Authorization: Bearer x.${key.slice(3)}\r\n`),
    get('/api/v1/jobs', `X-Api-Key: ${key}\r\nCookie: ${key}\r\nUser-Agent: ${key}\r\nReferer: ${key}\r\n`),
    get('/api/v1/jobs', `${right}If-None-Match: "${key}"\r\nX-Request-Id: ${key}\r\nExpect: ${key}\r\n`),
    get('/api/v1/jobs', `${right}X-Forwarded-For: ${key}\r\nHost: ${key}\r\n`),
    `${key} / HTTP/1.1\r\nHost: x\r\n\r\n`,
    `POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\n${right}Content-Length: ${key.length}\r\n\r\n${key}`,
    `CONNECT ${key}:443 HTTP/1.1\r\nHost: x\r\n${right}\r\n`,
    `GET /${key}\0 HTTP/1.1\r\nHost: x\r\n${right}\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\n${right}Bad Header ${key}\r\n\r\n`,
    `GET /${key.repeat(300)} HTTP/1.1\r\nHost: x\r\n${right}\r\n`,
  ];
}

for (const name of engineNames) {
  t.test(`no request makes a key or its secret appear in the log or the metrics (${name})`, async (t) => {
    await using workplace = await openWorkplace(name);
    await using engine = await openEngine(workplace.databaseUrl);
    await migrate(engine);
    await createCompany(engine, 'secretive', {}, STORY_NOW);
    await store(engine, 'secretive', [jobOf({ id: 'job_1' })]);
    const key = await keyFor(engine, 'secretive');
    const [, , , secret = ''] = key.split('.');
    t.equal(secret.length, 43, 'there is a secret to look for');
    const server = await workplace.serve([], { LOG_LEVEL: 'trace' });
    const { address, management } = server.greeting;
    const requests = requestsWith(key);
    const ask = async () => {
      const statuses: (number | undefined)[] = [];
      for (const request of requests) statuses.push((await exchangeRaw(address, request))[0]?.status);
      return statuses;
    };
    const statuses = await ask();
    t.strictSame(new Set(statuses), new Set([200, 400, 401, 404, 405]), 'requests of all fates');
    // A fault is what the log says most about.
    await engine.run('ALTER TABLE jobs RENAME TO jobs_elsewhere');
    t.ok((await ask()).includes(503), 'a table that is missing is a fault');
    await until(() => server.logs().filter(({ msg }) => msg === 'request.failed').length >= 2);
    const [metrics] = await exchangeRaw(
      management,
      'GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    await server.end('SIGTERM');
    const written = server.output.stdout + server.output.stderr;
    const answered = server.logs().filter(({ msg }) => msg === 'request.answered').length;
    t.ok(answered >= requests.length, `${answered} requests are in the log`);
    // Halves, too, in case a text is cut or joined otherwise.
    const halves = { half: secret.slice(0, 22), 'other half': secret.slice(22) };
    for (const [what, text] of Object.entries({ key, secret, ...halves })) {
      t.notOk(written.includes(text), `the ${what} is not in the log`);
      t.notOk(metrics?.body.includes(text), `the ${what} is not in the metrics`);
    }
    t.match(metrics?.body, /status="503"/, 'the metrics count what was asked');
  });
}
