import t from 'tap';

import { startPortal } from './_portal.ts';

t.test('keys and webhooks are found in the API section of People & access', async (t) => {
  const portal = await startPortal(t);
  const visitor = await portal.signedIn();
  await visitor.visit('/portal');
  t.match(
    visitor.text,
    /Overview Documents People & access People Audit trail API API keys Webhooks Usage Overview/,
    'they stand in the navigation by the name that service.md gives',
  );
  const places: [path: string, heading: RegExp][] = [
    ['/portal/keys', /Usage People & access › API API keys A key lets/],
    ['/portal/keys/new', /People & access › API Create a key/],
    ['/portal/webhooks', /People & access › API Webhooks/],
    ['/portal/usage', /People & access › API Usage/],
    ['/portal/people', /Usage People & access People These people/],
    ['/portal/audit', /Usage People & access Audit trail/],
    ['/portal/documents', /Usage Documents/],
  ];
  for (const [path, heading] of places) {
    await visitor.visit(path);
    t.match(visitor.text, heading, path);
  }
});
