import t from 'tap';

import { createTraceparent, traceIdIn, traceIdOfDelivery } from '../../src/contract/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

t.test('a request belongs to the trace of its valid traceparent', async (t) => {
  for (const flags of ['00', '01', 'ff']) t.equal(traceIdIn(`00-${TRACE}-${SPAN}-${flags}`), TRACE, flags);
  t.equal(traceIdIn(`00-${'0'.repeat(31)}1-${'0'.repeat(15)}1-01`), `${'0'.repeat(31)}1`);
});

t.test('a traceparent that is not valid is none', async (t) => {
  const valid = `00-${TRACE}-${SPAN}-01`;
  const invalid = {
    none: undefined,
    empty: '',
    'another version': `01-${TRACE}-${SPAN}-01`,
    'the forbidden version': `ff-${TRACE}-${SPAN}-01`,
    'upper case': valid.toUpperCase(),
    'a trace id of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
    'a span id of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
    'a short trace id': `00-${TRACE.slice(1)}-${SPAN}-01`,
    'a long span id': `00-${TRACE}-${SPAN}0-01`,
    'no flags': `00-${TRACE}-${SPAN}`,
    'more after the flags': `${valid}-00`,
    'a line after it': `${valid}\n`,
    'space around it': ` ${valid} `,
    'two headers, as Node joins them': `${valid}, ${valid}`,
    'another letter': valid.replace('4', 'g'),
  };
  for (const [what, value] of Object.entries(invalid)) t.equal(traceIdIn(value), undefined, what);
});

t.test(
  'all attempts of a delivery share the trace that its id says, each with a span of its own',
  async (t) => {
    const trace = traceIdOfDelivery('dlv_01a1f8c8-0f55-7176-b43a-90d58e48d22d');
    t.equal(trace, '01a1f8c80f557176b43a90d58e48d22d');
    const sent = [createTraceparent(trace), createTraceparent(trace)];
    for (const traceparent of sent) t.equal(traceIdIn(traceparent), trace);
    t.equal(new Set(sent.map((traceparent) => traceparent.split('-')[2])).size, 2);
  },
);
