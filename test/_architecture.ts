import { isBuiltin } from 'node:module';
import ts from 'typescript';

/** The facts of a file that the architecture test needs. */
export interface Source {
  path: string;
  lines: number;
  /** Module specifiers as written. */
  imports: string[];
  functions: { name: string; lines: number }[];
  hasDefaultExport: boolean;
  /** Syntax that Node can't strip, or that hides what a module holds. */
  forbidden: string[];
}

export interface Rules {
  /** For each part of src (a folder or a top-level file), the parts that it may import. */
  mayImport: Record<string, readonly string[]>;
  /** Parts that every other part may import. */
  leaves: readonly string[];
  /** The parts that may import a third-party package. */
  owners: Record<string, readonly string[]>;
  operationIds: readonly string[];
}

const BUDGETS = { file: 300, function: 60, operationFile: 60, testFile: 400 };
const VAGUE_NAME = /^(utils?|common|libs?|helpers?|misc|shared)$/;
const KEBAB_CASE = /^_?[a-z0-9]+(-[a-z0-9]+)*$/;

export function readSource(path: string, text: string): Source {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const source: Source = {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
    functions: [],
    hasDefaultExport: false,
    forbidden: [],
  };
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      source.functions.push({ name: nameOf(node), lines: linesOf(node, file) });
    }
    if (isDefaultExport(node)) source.hasDefaultExport = true;
    source.imports.push(...resolvedBy(node));
    if (ts.isEnumDeclaration(node)) source.forbidden.push(`enum ${node.name.text}`);
    if (ts.isModuleDeclaration(node)) source.forbidden.push(`namespace ${node.name.text}`);
    if (ts.isExportDeclaration(node) && !node.exportClause) source.forbidden.push('export *');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return source;
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText();
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : 'a function without a name';
}

function linesOf(node: ts.Node, file: ts.SourceFile): number {
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  return lineAt(node.getEnd()) - lineAt(node.getStart(file)) + 1;
}

/** A file of a package that is read rather than run, such as a font. */
function resolvedBy(node: ts.Node): string[] {
  if (!ts.isCallExpression(node) || node.expression.getText() !== 'import.meta.resolve') return [];
  return node.arguments.filter((argument) => ts.isStringLiteral(argument)).map(({ text }) => text);
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) &&
    !!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
  );
}

/** Everything that is wrong with one file of src or test, as sentences. */
export function problemsOf(source: Source, rules: Rules): string[] {
  const { path } = source;
  const found = [...shapeProblems(source), ...nameProblems(path, rules.operationIds)];
  if (path.startsWith('src/'))
    found.push(...source.imports.flatMap((name) => importProblems(path, name, rules)));
  return found.map((problem) => `${path}: ${problem}`);
}

function shapeProblems({ path, lines, functions, hasDefaultExport, forbidden }: Source): string[] {
  const isTest = path.startsWith('test/');
  const isOperation = path.startsWith('src/server/api/operations/');
  const linesMax = isTest ? BUDGETS.testFile : isOperation ? BUDGETS.operationFile : BUDGETS.file;
  const found = forbidden.map((syntax) => `has ${syntax}`);
  if (lines > linesMax) found.push(`has ${lines} lines, more than ${linesMax}`);
  if (hasDefaultExport) found.push('has a default export');
  for (const { name, lines } of isTest ? [] : functions) {
    if (lines > BUDGETS.function) found.push(`${name} has ${lines} lines, more than ${BUDGETS.function}`);
  }
  return found;
}

function nameProblems(path: string, operationIds: readonly string[]): string[] {
  const folders = path.split('/');
  const stem = (folders.pop() ?? '').replace(/(\.test)?\.(ts|js|sql)$/, '');
  const found: string[] = [];
  for (const name of [...folders, stem]) {
    if (name.split('-').some((word) => VAGUE_NAME.test(word.replace('_', ''))))
      found.push(`${name} says nothing`);
    if (!KEBAB_CASE.test(name) && !operationIds.includes(name)) found.push(`${name} is not kebab-case`);
  }
  if (path.startsWith('src/server/api/operations/') && !operationIds.includes(stem))
    found.push(`${stem} is no operation`);
  return found;
}

function importProblems(path: string, specifier: string, rules: Rules): string[] {
  const part = partOf(path);
  if (isBuiltin(specifier)) return [];
  if (!specifier.startsWith('.')) {
    const name = packageOf(specifier);
    const owners = rules.owners[name];
    if (owners === undefined) return [`imports ${name}, which has no owner`];
    return owners.includes(part) ? [] : [`imports ${name}, which belongs to ${owners.join(' and ')}`];
  }
  const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
  if (target.startsWith('generated/') && ['contract', 'client'].includes(part)) return [];
  if (!target.startsWith('src/')) return [`imports ${target}`];
  const imported = partOf(target);
  const allowed = rules.mayImport[part];
  if (allowed === undefined) return [`${part} is a part of src that nobody placed`];
  if (imported === part || allowed.includes(imported)) return [];
  return rules.leaves.includes(imported) ? [] : [`${part} imports ${imported}`];
}

/** The part of src that a file belongs to: a folder of a product or a file beside such folders, or a folder of src. */
export function partOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  const isOfProduct = first === 'server' || (first === 'client' && second === 'examples');
  return (isOfProduct ? second : first).replace(/\.(ts|js)$/, '');
}

export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** The parts that can be reached from themselves, by which the direction of imports would be lost. */
export function circularParts(mayImport: Rules['mayImport']): string[] {
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (mayImport[from] ?? []).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return Object.keys(mayImport).filter((part) => reaches(part, part, new Set()));
}

/**
 * The files and folders of a folder that import each other in a circle. An import counts for the two entries of the
 * folder in which both files lie.
 */
export function circularSiblings(sources: readonly Pick<Source, 'path' | 'imports'>[]): string[] {
  const imported: Record<string, string[]> = {};
  for (const { path, imports } of sources) {
    for (const target of filesIn(imports, path)) {
      const [from, to] = [path.split('/'), target.split('/')];
      const depth = 1 + from.findIndex((name, index) => name !== to[index]);
      (imported[from.slice(0, depth).join('/')] ??= []).push(to.slice(0, depth).join('/'));
    }
  }
  return circularParts(imported);
}

/** The imports from outside of a folder that don't go through one of its doors, which are files of it. */
export function importsBesideDoors(
  sources: readonly Pick<Source, 'path' | 'imports'>[],
  doors: Readonly<Record<string, readonly string[]>>,
): string[] {
  return sources.flatMap(({ path, imports }) =>
    filesIn(imports, path)
      .filter((target) => {
        const folder = target.slice(0, target.lastIndexOf('/'));
        const open = doors[folder];
        return open && !path.startsWith(`${folder}/`) && !open.includes(target.slice(folder.length + 1));
      })
      .map((target) => `${path} imports ${target}`),
  );
}

/** The files that imports name. */
function filesIn(imports: readonly string[], path: string): string[] {
  return imports
    .filter((name) => name.startsWith('.'))
    .map((name) => new URL(name, `file:///${path}`).pathname.slice(1));
}
