import t from 'tap';

import { engineNames, startExampleServer } from '../../_server.ts';

const invoice = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
const quote = '01a08075-d100-7db8-9463-0fbf1e8d7bff';

for (const engine of engineNames) {
  t.test(
    `an invoice or a quote is found by its id in upper case, as .NET writes it (${engine})`,
    async (t) => {
      await using server = await startExampleServer(engine);
      const headers = { authorization: `Bearer ${server.key}` };
      for (const [before, id, after] of [
        ['invoices', invoice, ''],
        ['invoices', invoice, '/pdf'],
        ['quotes', quote, ''],
      ] as const) {
        const [lower, upper] = await Promise.all(
          [id, id.toUpperCase()].map((written) =>
            server.http(`api/v1/${before}/${written}${after}`, { headers }),
          ),
        );
        t.equal(upper?.statusCode, 200, `${before} ${after}`);
        t.equal(upper?.body, lower?.body);
        t.equal(upper?.headers.etag, lower?.headers.etag);
      }
    },
  );
}

t.test('an id that is no UUID is found only as it is written', async (t) => {
  await using server = await startExampleServer('sqlite');
  const headers = { authorization: `Bearer ${server.key}` };
  t.equal((await server.http('api/v1/jobs/job_0001', { headers })).statusCode, 200);
  t.equal((await server.http('api/v1/jobs/JOB_0001', { headers })).statusCode, 404);
});
