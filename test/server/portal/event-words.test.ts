import { eventWords, exampleEvents } from '../../../src/contract/examples.ts';
import { onSqlite } from './_portal.ts';

onSqlite('every event is explained, where it is chosen and on a page', async (t, portal) => {
  const visitor = await portal.signedIn();
  for (const path of ['/portal/events', '/portal/webhooks/new']) {
    await visitor.visit(path);
    for (const { event, body } of exampleEvents().filter(({ event: kind }) => kind !== 'ping')) {
      const { summary, description } = eventWords(event);
      t.match(visitor.text, `${event} ${summary}. What it says, with an example of ${event}`, path);
      t.match(visitor.text.replaceAll(' ', ''), description.replaceAll(/[` ]/g, ''), path);
      if (exampleEvents().find((one) => one.event === event)?.body === body)
        t.match(visitor.text, JSON.stringify(JSON.parse(body), null, 2).replace(/\s+/g, ' '), path);
    }
  }
  await portal.engine.run("UPDATE companies SET modules = '[]'");
  t.match(
    await visitor.read('/portal/events'),
    'A job is created. Nothing is sent now: Your plan does not include it.',
  );
});
