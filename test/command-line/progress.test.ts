import t from 'tap';

import { showProgress } from '../../src/command-line/progress.ts';

t.test('without a terminal, long work says every ten seconds how far it is', async (t) => {
  const written: string[] = [];
  let ms = 0;
  t.intercept(process.stderr, 'isTTY', { value: false });
  t.intercept(process.stderr, 'write', { value: (text: string) => written.push(text) });
  t.intercept(performance, 'now', { value: () => ms });
  {
    using bar = showProgress('documents printed');
    for (const [at, done] of [
      [9_000, 100],
      [10_000, 112],
      [15_000, 180],
      [20_001, 250],
      [21_000, 260],
    ] as const) {
      ms = at;
      bar.update(done, 260);
    }
  }
  t.strictSame(written, ['112 of 260 documents printed\n', '250 of 260 documents printed\n']);
});
