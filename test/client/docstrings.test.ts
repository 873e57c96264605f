import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';

import { schemaNames } from '../../src/contract/records.ts';

const folder = join(import.meta.dirname, '../../src/client');
const parse = (text: string) => ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);

/** The names that a module hands on from others. */
function handedOn(text: string): string[] {
  return parse(text).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : [],
  );
}

/** The names and members that no comment explains. */
function unexplained(text: string, names: readonly string[]): string[] {
  return parse(text).statements.flatMap((statement) => {
    const name = nameOf(statement);
    if (!names.includes(name)) return [];
    const members =
      ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement) ? statement.members : [];
    const open = [...members].filter(isOpen);
    return [
      ...(isExplained(statement) ? [] : [name]),
      ...open.filter((member) => !isExplained(member)).map((member) => `${name}.${nameOf(member)}`),
    ];
  });
}

function nameOf(node: ts.Node): string {
  return (node as Partial<ts.NamedDeclaration>).name?.getText() ?? '';
}

function isExplained(node: ts.Node): boolean {
  return ts.getJSDocCommentsAndTags(node).length > 0;
}

/** Integrators call no constructor of an error, and the name of an error is its class. */
function isOpen(member: ts.Declaration): boolean {
  const isNamed = /^\w/.test(nameOf(member));
  return isNamed && !(ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Override);
}

t.test('whatever the client exports is explained, down to its members', async (t) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const contract = ['events.ts', 'operations.ts', 'records.ts'].map((name) => `../contract/${name}`);
  const texts = [...files.filter((path) => path.endsWith('.ts')), ...contract].map((path) =>
    readFileSync(join(folder, path), 'utf8'),
  );
  const names = handedOn(readFileSync(join(folder, 'index.ts'), 'utf8'));
  t.ok(names.includes('createClient') && names.includes('Page'));
  for (const { body, whole } of Object.values(schemaNames))
    t.ok(names.includes(body) && names.includes(whole), `${body} is among them`);
  t.strictSame(
    texts.flatMap((text) => unexplained(text, names)),
    [],
  );
});

t.test('and the check bites', async (t) => {
  t.strictSame(handedOn("export { a } from './a.ts'; export type { B, C } from './b.ts';"), ['a', 'B', 'C']);
  const text =
    '/** A. */ interface A { b: string } class C { d = 1; #e = 2; constructor() {} } interface D { f: 1 }';
  t.strictSame(unexplained(text, ['A', 'C']), ['A.b', 'C', 'C.d']);
});
