import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

const heapModule = join(import.meta.dirname, '..', 'src', 'heap.ts');

// Whether they help is seen in `make bench`; a Node whose V8 has lost one would otherwise only say so in passing.
t.test('V8 knows each flag that bounds the heap', async (t) => {
  const script = `(await import(${JSON.stringify(heapModule)})).boundHeap();`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  t.equal(stderr, '');
});
