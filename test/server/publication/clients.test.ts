import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { version } from '../../../src/contract/version.ts';
import { serveUnbuilt } from './_unbuilt.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** Where the packages of earlier releases are kept. */
const kept = 'src/server/publication/clients';

t.test('the package of each version stays as it was, and the last three releases are kept', async (t) => {
  const http = await serveUnbuilt(t, {
    'generated/client.tgz': 'the newest',
    [`${kept}/fieldledger-client-1.0.8.tgz`]: 'eight',
    [`${kept}/fieldledger-client-1.0.9.tgz`]: 'nine',
    // As a release keeps its own for those to come.
    [`${kept}/fieldledger-client-${version}.tgz`]: 'another build',
  });
  const addresses: [path: string, text: string, of: string][] = [
    ['client.tgz', 'the newest', version],
    [`client-${version}.tgz`, 'the newest', version],
    ['client-1.0.8.tgz', 'eight', '1.0.8'],
    ['client-1.0.9.tgz', 'nine', '1.0.9'],
  ];
  for (const [path, text, of] of addresses) {
    const { statusCode, headers, body } = await http(path);
    t.strictSame([statusCode, headers['content-type'], body], [200, 'application/gzip', text], path);
    t.equal(headers['content-disposition'], `attachment; filename="fieldledger-client-${of}.tgz"`);
  }
  t.equal((await http('client-1.0.7.tgz')).statusCode, 404);

  // The package of 1.0.0 had another name.
  const released = readdirSync(join(root, 'test/contract/released'))
    .filter((of) => of !== version && of !== '1.0.0')
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const missing = released
    .slice(-3)
    .filter((of) => !existsSync(join(root, kept, `fieldledger-client-${of}.tgz`)));
  t.strictSame(missing, [], 'src/README.md, "Releases", says where they go');
});

t.test('every page that installs the package names this version', (t) => {
  const pages =
    'README.md openapi.yaml src/client/README.md src/client/examples/receiver.ts src/examples/sender.ts';
  for (const page of pages.split(' ')) {
    const installed = readFileSync(join(root, page), 'utf8').match(
      /(?<=npm install https?:\S+\/)client[^\s`]*/g,
    );
    t.strictSame([...new Set(installed)], [`client-${version}.tgz`], page);
  }
  t.end();
});
