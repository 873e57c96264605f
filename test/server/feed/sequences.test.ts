import { refusalOf } from '../backoffice/_backoffice.ts';
import { jobCreate } from '../backoffice/_changes.ts';
import { job, onEachDoor } from './_door.ts';

onEachDoor('a source goes forward only, even when ids are forgotten', async (t, door) => {
  const { id: company } = door.company;
  const from = (number: number, sequence: number, source = 'erp') =>
    job(company, number, { source, sequence });
  const position = async (source: string) => {
    const { body } = await door.get(`position?company=${company}&source=${encodeURIComponent(source)}`);
    const { sequence, id } = JSON.parse(body) as { sequence: number | null; id: string | null };
    return [sequence, id];
  };
  t.strictSame(await position('erp'), [null, null]);
  const place = { source: 'erp', sequence: 20 };
  const refused = job(company, 4, { ...place, change: 'job.complete', with: { id: 'job_9' } });
  t.strictSame(await door.apply([from(1, 0), from(2, 7), from(3, 7), from(3, 6), refused, from(1, 0)]), [
    '1 c1 applied',
    '2 c2 applied',
    '3 c3 out_of_sequence /sequence',
    '4 c3 out_of_sequence /sequence',
    '5 c4 unknown_record /with/id',
    '6 c1 skipped',
  ]);
  t.strictSame(await position('erp'), [7, 'c2'], 'a refused change moves nothing');
  const inOther = await door.apply([from(5, 1, 'a?b/ü&c')]);
  t.strictSame(inOther, ['1 c5 applied'], 'another source has its own place');
  t.strictSame(await position('a?b/ü&c'), [1, 'c5']);
  const greatest = Number.MAX_SAFE_INTEGER;
  t.strictSame(await door.apply([from(6, greatest)]), ['1 c6 applied']);
  t.strictSame(await position('erp'), [greatest, 'c6']);
  await door.engine.run('DELETE FROM applied_changes');
  const again = await door.apply([from(1, 0), from(6, greatest)]);
  t.strictSame(again, ['1 c1 out_of_sequence /sequence', '2 c6 out_of_sequence /sequence']);
  const other = await door.openCompany();
  t.equal((await refusalOf(door.backoffice, { ...from(1, 0), company: other.id })).code, 'unknown_record');
});

onEachDoor('of two senders with one source none overtakes the other', async (t, door) => {
  const { id: company } = door.company;
  const sendAll = async (name: string, step: number) => {
    const answers: string[] = [];
    for (let first = 0; first < 60; first += 12) {
      const batch = Array.from({ length: 12 }, (_, index) => {
        const sequence = (first + index) * step;
        return { ...job(company, 0, { source: 'erp', sequence }), ...jobCreate(), id: `${name} ${sequence}` };
      });
      answers.push(...(await door.apply(batch)));
    }
    return answers;
  };
  const answers = (await Promise.all([sendAll('a', 1), sendAll('b', 3)])).flat();
  const made = answers.filter((answer) => answer.endsWith('applied'));
  const applied = made.map((answer) => answer.split(' ')[2]);
  t.equal(new Set(applied).size, applied.length, 'no place was taken twice');
  const others = answers.filter((answer) => !/ (?:applied|out_of_sequence \/sequence)$/.test(answer));
  t.strictSame(others, []);
  const [row] = await door.engine.run('SELECT COUNT(*) AS jobs FROM jobs');
  t.equal(Number(row?.jobs), applied.length);
  const { body } = await door.get(`position?company=${company}&source=erp`);
  t.match(JSON.parse(body), { sequence: 177 });
});
