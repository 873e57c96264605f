import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';

import t from 'tap';

import { LINE_BYTES_MAX } from '../../../src/server/backoffice/feed-lines.ts';
import { describeConfig, readConfig } from '../../../src/server/process/config.ts';
import { listen } from '../../client/_service.ts';

/*
 * Holds the files for operators against the program's settings, and the units against systemd where it is installed.
 */

const folder = join(import.meta.dirname, '..', '..', '..', 'src', 'server', 'operating');
const program = join(folder, '..', '..', 'fieldledger.js');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const UNITS = ['fieldledger.service', 'fieldledger@.service'];
const settingNames = new Set(describeConfig({}).map(({ name }) => name));

/** Where Node keeps compiled code, and the version that an image is made of. */
const NOT_SETTINGS = ['XDG_CACHE_HOME', 'VERSION'];

/** The lines of a unit, without comments. */
const linesOf = (unit: string) =>
  read(unit)
    .split('\n')
    .filter((line) => /^[^#\s]/.test(line));
const valuesOf = (unit: string, key: string) =>
  linesOf(unit).flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
/** The assignments in a text, without quotes. */
const assignmentsIn = (text: string) =>
  Object.fromEntries<string>(
    [...text.matchAll(/\b([A-Z][A-Z_]+)=([^\s"\\]*)/g)].map(([, name = '', value = '']) => [name, value]),
  );

t.test('every setting that the files name is one of Fieldledger, with a value that it takes', async (t) => {
  for (const name of ['Containerfile', 'Caddyfile', 'nginx.conf', 'fieldledger-backup.service', ...UNITS]) {
    const assigned = assignmentsIn(read(name).replaceAll('%i', '8080'));
    const given = Object.entries(assigned).filter(([setting]) => !NOT_SETTINGS.includes(setting));
    // A setting's value may come from a file.
    const settings = given.filter(([setting]) => !setting.endsWith('_FILE'));
    for (const [setting] of given)
      t.ok(settingNames.has(setting.replace(/_FILE$/, '')), `${name}: ${setting}`);
    t.doesNotThrow(() => readConfig(Object.fromEntries(settings)), name);
  }
});

t.test('both units have the same limits', async (t) => {
  const [one = '', many = ''] = UNITS.map((unit) => read(unit).slice(read(unit).indexOf('# A stop takes')));
  t.equal(many, one);
});

t.test('a unit lets Fieldledger do what it needs, and no more', async (t) => {
  for (const unit of UNITS) {
    t.strictSame(valuesOf(unit, 'MemoryDenyWriteExecute'), [], 'Node compiles to machine code');
    t.notMatch(valuesOf(unit, 'SystemCallFilter').join(' '), '~@resources', 'processes that print are nice');
    const families = valuesOf(unit, 'RestrictAddressFamilies').join(' ');
    t.match(families, 'AF_NETLINK', 'webhooks ask for own addresses');
    t.strictSame(valuesOf(unit, 'KillMode'), ['mixed'], 'a document under way is finished at a stop');
    t.strictSame(valuesOf(unit, 'OOMPolicy'), ['continue'], 'what prints may run out of memory alone');
    t.strictSame(valuesOf(unit, 'User'), ['fieldledger']);
    const { shutdownSeconds } = readConfig({});
    const stopSeconds = Number(valuesOf(unit, 'TimeoutStopSec')[0]);
    t.ok(stopSeconds >= 5 + shutdownSeconds + 11, 'deliveries have their time as well');
  }
});

t.test("a command has the server's folder, settings and secrets", async (t) => {
  const place = t.testdir({
    etc: {
      'fieldledger.env':
        "SERVICE_NAME='Acme'\nBASE_URL=https://api.example.com\nWEBHOOK_SECRET_KEY_FILE=../etc/key\n",
      key: `${Buffer.alloc(32, 7).toString('base64')}\n`,
    },
    state: {},
  });
  const script = read('fieldledger-command')
    .replaceAll('/etc/fieldledger', `${place}/etc`)
    .replaceAll('/var/lib/fieldledger', `${place}/state`)
    // Only root may become another user.
    .replace(/^exec runuser .*$/m, `exec '${program}' "$@"`);
  const run = (...args: string[]) =>
    spawnSync('sh', ['-c', script, 'fieldledger', ...args], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { PATH: process.env.PATH },
    });
  const { stdout, stderr } = run('config', '--json');
  t.equal(stderr, '');
  const settings = JSON.parse(stdout) as { name: string; value: string }[];
  for (const [name, value] of [
    ['SERVICE_NAME', 'Acme'],
    ['BASE_URL', 'https://api.example.com'],
    ['WEBHOOK_SECRET_KEY', '***'],
  ])
    t.equal(settings.find((setting) => setting.name === name)?.value, value);
  t.equal(run('migrate').status, 0);
  t.ok(existsSync(join(place, 'state', 'data', 'fieldledger.db')));
});

t.test('a setting with a bare & reaches the command, and an unreadable line stops it', async (t) => {
  const place = t.testdir({ state: {} });
  const script = read('fieldledger-command')
    .replaceAll('/etc/fieldledger', place)
    .replaceAll('/var/lib/fieldledger', `${place}/state`)
    .replace(/^exec runuser .*$/m, 'exec env');
  const run = (settings: string) => {
    writeFileSync(join(place, 'fieldledger.env'), settings);
    const env = { PATH: process.env.PATH };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env });
    const [, value] = /^DATABASE_URL=(.*)$/m.exec(stdout) ?? [];
    return { status, value, stderr };
  };
  // As systemd 252 reads them (parse_env_file_internal in env-file.c).
  const readable: [text: string, value: string][] = [
    ['postgres://u:p&w@h/db', 'postgres://u:p&w@h/db'],
    [' $HOME `id` #1;2 "3" ', '$HOME `id` #1;2 "3"'],
    ['\'a "b" $c\'', 'a "b" $c'],
    ['"it\'s $c"  ', "it's $c"],
    ["it's", "it's"],
    ['a=b', 'a=b'],
    ['', ''],
  ];
  for (const [text, value] of readable)
    for (const end of ['\n', '\r\n', '']) {
      const outcome = run(`# first\n ; second\n\n  DATABASE_URL=${text}${end}`);
      t.strictSame(outcome, { status: 0, value, stderr: '' }, text);
    }
  const unreadable = ["A='x", "A='x'y'", 'A="x" y', 'A=a\\b', 'export A=b', 'A', '1A=b', 'A B=c', '=x'];
  for (const line of unreadable) {
    const { status, value, stderr } = run(`DATABASE_URL=postgres://u:hunter2@h/db\n${line}`);
    t.strictSame([status, value], [1, undefined], line);
    t.match(stderr, /^fieldledger: line 2 of .*fieldledger.env is not NAME=VALUE/);
    t.notMatch(stderr, 'hunter2');
  }
});

t.test('a command on the terminal of root gets another one, and elsewhere none', async (t) => {
  const script = read('fieldledger-command');
  t.match(script, 'if [ -t 0 ] && [ -t 1 ] && [ -t 2 ]; then\n  exec runuser --pty -u fieldledger -- ');
  t.match(script, /^exec runuser .* --command .*$/m, 'which begins a session of its own');
  t.equal(script.match(/\brunuser\b/g)?.length, 2);
});

const analyze = '/usr/bin/systemd-analyze';
t.test(
  'the exposure of each unit is at most what the page for operators says',
  { skip: !existsSync(analyze) && 'systemd is not installed' },
  async (t) => {
    const [, exposure = ''] = /exposure level of ([\d.]+)/.exec(read('README.md')) ?? [];
    for (const unit of UNITS) {
      const threshold = `--threshold=${Math.round(10 * Number(exposure))}`;
      const args = ['security', '--offline=true', '--no-pager', threshold, join(folder, unit)];
      const { status, stdout } = spawnSync(analyze, args, { encoding: 'utf8', timeout: 30_000 });
      t.equal(status, 0, stdout.split('\n').at(-2) ?? '');
    }
  },
);

t.test('the container runs as nobody special, and serves what it exposes', async (t) => {
  const file = read('Containerfile');
  const settings = assignmentsIn(file);
  t.match(file, /^USER [1-9]\d+:[1-9]\d+$/m);
  t.match(file, `\nEXPOSE ${settings.PORT} ${settings.MANAGEMENT_PORT}\n`);
  t.match(file, '\nSTOPSIGNAL SIGTERM\n');
  t.match(file, `\nVOLUME /var/lib/fieldledger\n`);
  t.notMatch(file, /^(?:ENV|ARG).*(?:SECRET|PASSWORD|DATABASE_URL)/m, 'an image holds no secret');
});

t.test('the health check of the container tells a server that answers from one that does not', async (t) => {
  const [, command = ''] = /^ +CMD (\[.*\])$/m.exec(read('Containerfile')) ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  let status = 200;
  const { port, stop } = await listen(t, (req, res) =>
    res.writeHead(req.url === '/healthz' ? status : 404).end(),
  );
  const check = async () => {
    const child = spawn(process.execPath, args, { env: { MANAGEMENT_PORT: String(port) }, stdio: 'ignore' });
    const [exitCode] = (await once(child, 'close')) as [number];
    return exitCode;
  };
  t.equal(await check(), 0);
  status = 503;
  t.equal(await check(), 1);
  stop();
  t.equal(await check(), 1);
});

t.test('a front hides the pages of operators, and lets go of connections before Fieldledger', async (t) => {
  const { port } = readConfig({});
  for (const name of ['Caddyfile', 'nginx.conf']) {
    const text = read(name).replaceAll(/#.*/g, '');
    t.ok(text.includes('^/+(metrics|healthz|readyz)/*$'), name);
    t.ok(text.includes('^/+api(/|$)'), `${name}: a key that was sent over http isn’t led to https`);
    t.match(text, `127.0.0.1:${port}`, name);
    const [, seconds] = /keepalive(?:_timeout)? (\d+)s/.exec(text) ?? [];
    t.ok(Number(seconds) < 65, name);
    t.equal(text.split('{').length, text.split('}').length, `${name}: every block ends`);
  }
  const nginx = read('nginx.conf').replaceAll(/#.*/g, '');
  t.match(nginx, 'proxy_pass_header Date;', 'integrators go on from the Date of Fieldledger');
  t.match(nginx, 'proxy_set_header X-Forwarded-For $remote_addr;');
  t.notMatch(nginx, '$host', 'no host that the client made up');
  t.notMatch(nginx, 'http2 on', 'nothing that nginx 1.22 lacks');
  t.notMatch(nginx, /[^;{}\s][^\S\n]*$/m, 'every statement ends');
});

t.test('a front has a name for the feed, takes whole batches, and leads nowhere else', async (t) => {
  for (const [name, beginning, most, elsewhere] of [
    ['Caddyfile', '\nfeed.example.com {', 'max_size 9MiB', /handle \/feed\/\* \{[^]*respond 404/],
    ['nginx.conf', 'upstream fieldledger_feed {', 'client_max_body_size 9m;', 'location / { return 404; }'],
  ] as const) {
    const text = read(name).replaceAll(/(?<=^\s*)#.*$/gm, '');
    const [api = '', feed = ''] = text.split(beginning);
    const others = api.replaceAll(/http:\/\/feed[^]*$/g, '');
    t.notMatch(others, '8090', `${name}: the API's name doesn't lead to the feed`);
    t.match(feed, '127.0.0.1:8090', name);
    t.notMatch(feed, '127.0.0.1:8080', name);
    t.match(feed, most, name);
    t.match(feed, elsewhere, name);
    t.match(text, 'This feed token was sent in the clear', name);
  }
  t.equal(LINE_BYTES_MAX, 8 * 1024 * 1024);
});

const NGINX = '/usr/sbin/nginx';
t.test('nginx loads its file', { skip: !existsSync(NGINX) && 'nginx is not installed' }, async (t) => {
  const place = t.testdir();
  const pem = join(place, 'one.pem');
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=a -keyout ${pem} -out ${pem}`;
  t.equal(spawnSync('openssl', request.split(' ')).status, 0);
  const site = read('nginx.conf').replaceAll(/\/etc\/letsencrypt\S+\.pem/g, pem);
  const logs = `error_log stderr; pid ${place}/pid;`;
  writeFileSync(join(place, 'nginx.conf'), `${logs} events {} http { access_log off; ${site} }`);
  const { status, stderr } = spawnSync(NGINX, ['-t', '-p', place, '-c', 'nginx.conf'], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
});

const CADDY = '/usr/bin/caddy';
t.test('Caddy loads its file', { skip: !existsSync(CADDY) && 'Caddy is not installed' }, async (t) => {
  const args = ['adapt', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  const { status, stderr } = spawnSync(CADDY, args, { encoding: 'utf8', env: { HOME: t.testdir() } });
  t.equal(status, 0, stderr);
});
