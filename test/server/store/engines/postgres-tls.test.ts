import { chownSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import pg from 'pg';
import t from 'tap';

import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { startPostgres } from '../../../_postgres.ts';
import { createAuthority } from '../../sending/_certificates.ts';

const authority = createAuthority();

/** Has a server take encrypted connections only, as localhost, from clients with a certificate of the authority. */
async function demandTls(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ hba_file: string }>('SHOW hba_file');
    const [{ hba_file: hba } = { hba_file: '' }] = rows;
    const { uid, gid } = statSync(hba);
    const { cert, key } = authority.issue({ names: ['localhost'] });
    const files = {
      'server.crt': cert,
      'server.key': key,
      'ca.crt': authority.ca,
      'pg_hba.conf': 'hostssl all all all password clientcert=verify-ca\n',
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(dirname(hba), name);
      writeFileSync(path, text, { mode: 0o600 });
      chownSync(path, uid, gid);
    }
    await client.query("ALTER SYSTEM SET ssl_ca_file = 'ca.crt'");
    await client.query('ALTER SYSTEM SET ssl = on');
    await client.query('SELECT pg_reload_conf()');
  } finally {
    await client.end();
  }
}

t.test('PostgreSQL is trusted by name and authority, and trusts clients by certificates', async (t) => {
  await using postgres = await startPostgres();
  await demandTls(postgres.url);
  const folder = t.testdir({});
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const { cert, key } = authority.issue({ names: ['fieldledger'] });
  const ca = { sslrootcert: file('ca.pem', authority.ca) };
  const own = { sslcert: file('client.pem', cert), sslkey: file('client.key', key) };

  /** Whether a connection is encrypted; rejects with the reason when there is none. */
  const isEncrypted = async (host: string, parameters: Record<string, string>) => {
    const url = new URL(postgres.url);
    url.hostname = host;
    url.search = new URLSearchParams(parameters).toString();
    await using engine = await openEngine(url.href, { poolMax: 1 });
    const [row] = await engine.run('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return row?.ssl;
  };
  const verified = { sslmode: 'verify-full' };
  t.equal(await isEncrypted('localhost', { ...verified, ...ca, ...own }), true);
  const unverified = { sslmode: 'no-verify', ...own };
  t.equal(await isEncrypted('127.0.0.1', unverified), true, 'without a look at its name');
  const refusals: [what: string, host: string, parameters: Record<string, string>, cause: object][] = [
    ['an unknown authority', 'localhost', { ...verified, ...own }, { code: /SELF_SIGNED|UNABLE_TO/ }],
    ['another name', '127.0.0.1', { ...verified, ...ca, ...own }, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }],
    ['another name, by require', '127.0.0.1', { sslmode: 'require', ...ca, ...own }, { code: /ALTNAME/ }],
    ['no certificate of the client', 'localhost', { ...verified, ...ca }, { message: /certificate/ }],
    ['no encryption', 'localhost', {}, { message: /no encryption/ }],
  ];
  for (const [what, host, parameters, cause] of refusals) {
    const refused = await isEncrypted(host, parameters).catch(
      (error: unknown) => (error as Error).cause ?? error,
    );
    t.match(refused, cause, what);
  }
});
