import { isDeepStrictEqual } from 'node:util';

import { isAnnotation, placesOfComponents } from './_contract-files.ts';
import type { Files, Node } from './_contract-files.ts';

/*
 * Holds the contract against an earlier release of it by what it promises under "Compatibility and versions": within
 * version 1 there are only additions. Whatever exists keeps its name. What the service sends (answers, events) may not
 * become wider, and what it takes in (parameters, the feed) may not become narrower.
 *
 * `redocly diff` judges answers, parameters and the bodies of events as these rules do. It sees no break in the feed,
 * which has no operations, nor in open sets, defaults and the headers of events, and takes a second for each comparison.
 * So these rules are the gate, and the test asks Redocly once, as a second judge. Neither judges prose: a change of
 * meaning that stands in a description alone needs a reader. `Event` in webhooks.yaml is not judged, because each event
 * is judged where it is sent.
 */

interface Spot {
  /** For people: where in which file. */
  place: string;
  direction: 'sent' | 'taken';
}

/** Judges what was and what is at a spot, and says in sentences what is broken there. */
type Judge = (before: Node, now: Node, spot: Spot) => string[];

/** Sentences about what a contract breaks of an earlier one's promises; none when it only adds to them. */
export function breaksOf(before: Files, now: Files): string[] {
  const at = (file: keyof Files, direction: Spot['direction'], judge: Judge) =>
    judge(before[file], now[file], { place: file, direction });
  const problems = [
    ...at('openapi.yaml', 'taken', judgeServers),
    ...at('openapi.yaml', 'taken', judgeIn('components', judgeEach('securitySchemes', judgeRest))),
    ...at('openapi.yaml', 'taken', judgeEach('paths', judgePath)),
    // An event is a request that the service sends.
    ...at('openapi.yaml', 'sent', judgeEach('webhooks', judgePath)),
    ...at('webhooks.yaml', 'sent', judgeEach('webhooks', judgePath)),
    ...at('feed.yaml', 'taken', judgeComponent('Change')),
    ...at('feed.yaml', 'sent', judgeComponent('Answer')),
  ];
  return [...new Set(problems)];
}

const KEEPS = 'what exists keeps its name, its type and its meaning';
const promiseOf = ({ direction }: Spot) =>
  direction === 'sent'
    ? 'readers meet nothing that the contract ruled out'
    : 'whatever was accepted stays accepted';
const broken = ({ place }: Spot, change: string, promise: string) =>
  `${place}: ${change}, but within version 1 ${promise}.`;
const shown = (value: unknown) => (value === undefined ? 'not stated' : JSON.stringify(value).slice(0, 200));
const changed = (keyword: string, before: Node, now: Node) =>
  `${keyword} was ${shown(before[keyword])} and is ${shown(now[keyword])}`;

const childOf = (node: Node, name: string) => (node[name] ?? {}) as Node;
const inside = (spot: Spot, name: string): Spot => ({ ...spot, place: `${spot.place}, ${name}` });
/** A component is named itself, wherever it is used. */
const atComponent = (before: Node, now: Node, spot: Spot): Spot => {
  const place = placesOfComponents.get(now);
  return place !== undefined && place === placesOfComponents.get(before) ? { ...spot, place } : spot;
};
/** Of before and now, the one that has to fit into the other. */
const orderOf = <T>(before: T, now: T, { direction }: Spot): { narrow: T; wide: T } =>
  direction === 'sent' ? { narrow: now, wide: before } : { narrow: before, wide: now };

function judgeIn(member: string, judge: Judge): Judge {
  return (before, now, spot) => judge(childOf(before, member), childOf(now, member), spot);
}

function judgeComponent(name: string): Judge {
  const judge: Judge = (before, now, spot) => judgeSchema(before, now, inside(spot, name));
  return judgeIn('components', judgeIn('schemas', judgeIn(name, judge)));
}

/** A member whose own members have names: none may vanish, and new ones are additions unless said otherwise. */
function judgeEach(member: string, judge: Judge, mayBeNew: (added: Node) => boolean = () => true): Judge {
  return judgeIn(member, (before, now, spot) => [
    ...Object.keys(before).flatMap((name) =>
      now[name] === undefined
        ? [broken(inside(spot, name), 'is gone', KEEPS)]
        : judge(childOf(before, name), childOf(now, name), inside(spot, name)),
    ),
    ...Object.keys(now)
      .filter((name) => before[name] === undefined && !mayBeNew(childOf(now, name)))
      .map((name) => {
        const change = spot.direction === 'sent' ? 'is new' : 'is new and required';
        return broken(inside(spot, name), change, promiseOf(spot));
      }),
  ]);
}

/** Keywords without a rule of their own may not change. */
function judgeRest(before: Node, now: Node, spot: Spot, judged: string[] = []): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((key) => !isAnnotation(key) && !judged.includes(key))
    .filter((key) => !isDeepStrictEqual(before[key], now[key]))
    .map((key) => broken(spot, changed(key, before, now), KEEPS));
}

const judgeServers: Judge = (before, now, spot) => {
  const addresses = ({ servers }: Node) => ({ servers: (servers as Node[]).map(({ url }) => url) });
  return judgeRest(addresses(before), addresses(now), spot);
};

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const judgePath: Judge = (before, now, usedAt) => {
  const spot = atComponent(before, now, usedAt);
  const operationsOf = (path: Node) => ({
    operations: Object.fromEntries(
      METHODS.filter((method) => method in path).map((method) => {
        const { requestBody, ...operation } = childOf(path, method);
        const parameters = parametersOf(path, operation);
        return [method, { ...operation, parameters, bodies: requestBody ? { body: requestBody } : {} }];
      }),
    ),
  });
  return [
    ...judgeRest(before, now, spot, ['parameters', ...METHODS]),
    ...judgeEach('operations', judgeOperation)(operationsOf(before), operationsOf(now), spot),
  ];
};

/** The parameters of a path and of its operation, by place and name: their order says nothing. */
function parametersOf(...owners: Node[]): Node {
  const all = owners.flatMap(({ parameters = [] }) => parameters as { in: string; name: string }[]);
  return Object.fromEntries(
    all.map((parameter) => [`${parameter.in} parameter ${parameter.name}`, parameter]),
  );
}

const judgeOperation: Judge = (before, now, spot) => {
  const isSent = spot.direction === 'sent';
  const mayBeNew = ({ required }: Node) => isSent || required !== true;
  const ofAnswers: Spot = { ...spot, direction: isSent ? 'taken' : 'sent' };
  return [
    ...judgeRest(before, now, spot, ['parameters', 'bodies', 'responses']),
    ...judgeEach('parameters', judgeContent, mayBeNew)(before, now, spot),
    ...judgeEach('bodies', judgeContent, mayBeNew)(before, now, spot),
    // The contract lists what may be added to it, and statuses aren't in the list.
    ...judgeEach('responses', judgeContent, () => isSent)(before, now, ofAnswers),
  ];
};

/** A parameter, a body, an answer, a header or one of its media types: each has some of these members. */
const judgeContent: Judge = (before, now, usedAt) => {
  const spot = atComponent(before, now, usedAt);
  const { narrow, wide } = orderOf(before, now, spot);
  return [
    ...judgeRest(before, now, spot, ['required', 'schema', 'headers', 'content']),
    ...(wide.required === true && narrow.required !== true ? [requiredChanged(spot)] : []),
    ...judgeIn('schema', judgeSchema)(before, now, spot),
    ...judgeEach('headers', judgeContent)(before, now, spot),
    ...judgeEach('content', judgeContent, () => spot.direction === 'taken')(before, now, spot),
  ];
};

const requiredChanged = (spot: Spot) =>
  broken(spot, spot.direction === 'sent' ? 'can be absent now' : 'is required now', promiseOf(spot));

type Fit = (narrow: unknown, wide: unknown) => boolean;
const atLeast: Fit = (narrow, wide) => Number(narrow ?? -Infinity) >= Number(wide ?? -Infinity);
const atMost: Fit = (narrow, wide) => Number(narrow ?? Infinity) <= Number(wide ?? Infinity);
/** Whether one pattern holds another isn't computed: a change of it counts as a break, until somebody has judged it. */
const sameOrAny: Fit = (narrow, wide) => wide === undefined || wide === narrow;
const typeFits: Fit = (narrow, wide) => {
  const admitted = [wide].flat();
  const fits = (type: unknown) =>
    admitted.includes(type) || (type === 'integer' && admitted.includes('number'));
  return wide === undefined || [narrow].flat().every(fits);
};

/** For each keyword, whether all that one schema admits by it another one admits too. */
const fits: Record<string, Fit> = {
  type: typeFits,
  format: (narrow, wide) => sameOrAny(narrow, wide) || (narrow === 'int32' && wide === 'int64'),
  pattern: sameOrAny,
  multipleOf: sameOrAny,
  uniqueItems: sameOrAny,
  minimum: atLeast,
  exclusiveMinimum: atLeast,
  minLength: atLeast,
  minItems: atLeast,
  minProperties: atLeast,
  maximum: atMost,
  exclusiveMaximum: atMost,
  maxLength: atMost,
  maxItems: atMost,
  maxProperties: atMost,
};
const SETS = ['enum', 'const', 'x-extensible-enum'];
const STRUCTURE = ['properties', 'required', 'additionalProperties', 'items', 'anyOf', 'oneOf'];

const judgeSchema: Judge = (before, now, usedAt) => {
  // Most of the contract is as it was, and a comparison takes a tenth of the time.
  if (isDeepStrictEqual(before, now)) return [];
  const spot = atComponent(before, now, usedAt);
  return [
    ...judgeRest(before, now, spot, [...Object.keys(fits), ...SETS, ...STRUCTURE]),
    ...judgeKeywords(before, now, spot),
    ...judgeSets(before, now, spot),
    ...judgeMembers(before, now, spot),
    ...judgeForms(before, now, spot),
  ];
};

const judgeKeywords: Judge = (before, now, spot) => {
  const { narrow, wide } = orderOf(before, now, spot);
  return Object.entries(fits)
    .filter(([keyword, fit]) => !fit(narrow[keyword], wide[keyword]))
    .map(([keyword]) => broken(spot, changed(keyword, before, now), promiseOf(spot)));
};

const judgeSets: Judge = (before, now, spot) => {
  const closed = (schema: Node) =>
    ('const' in schema ? [schema.const] : schema.enum) as unknown[] | undefined;
  const known = (schema: Node) => closed(schema) ?? (schema['x-extensible-enum'] as unknown[] | undefined);
  const { narrow, wide } = orderOf(before, now, spot);
  const isSent = spot.direction === 'sent';
  const gone = known(now) ? known(before)?.filter((value) => !known(now)?.includes(value)) : [];
  const added =
    isSent && closed(before) ? closed(now)?.filter((value) => !closed(before)?.includes(value)) : [];
  return [
    ...(gone ?? []).map((value) => broken(spot, `${shown(value)} is gone`, KEEPS)),
    ...(added ?? []).map((value) => broken(spot, `${shown(value)} is new`, 'a closed set stays as it is')),
    ...(closed(wide) && !closed(narrow)
      ? [broken(spot, isSent ? 'the set is closed no longer' : 'the set is closed now', promiseOf(spot))]
      : []),
  ];
};

const judgeMembers: Judge = (before, now, spot) => {
  const { narrow, wide } = orderOf(before, now, spot);
  const required = (schema: Node) => (schema.required ?? []) as string[];
  return [
    ...judgeEach('properties', judgeSchema)(before, now, spot),
    ...required(wide)
      .filter((name) => !required(narrow).includes(name))
      .map((name) => requiredChanged(inside(spot, name))),
    ...((before.items ?? now.items)
      ? judgeIn('items', judgeSchema)(before, now, inside(spot, 'each item'))
      : []),
    ...judgeOtherMembers(before, now, inside(spot, 'other members')),
  ];
};

/** Members without a name of their own. An object that names its members has no others, unless it says so. */
const judgeOtherMembers: Judge = (before, now, spot) => {
  const keyword = 'additionalProperties';
  const of = (schema: Node) => schema[keyword] ?? schema.properties === undefined;
  if (typeof of(before) === 'object' && typeof of(now) === 'object')
    return judgeIn(keyword, judgeSchema)(before, now, spot);
  const { narrow, wide } = orderOf(of(before), of(now), spot);
  // Readers ignore members that they don't know.
  const isFine = wide === true || narrow === false || (spot.direction === 'sent' && wide === false);
  return isFine ? [] : [broken(spot, changed(keyword, before, now), promiseOf(spot))];
};

/** Each form (a branch of `anyOf` or `oneOf`) that the narrower schema has must fit into one of the wider. */
const judgeForms: Judge = (before, now, spot) => {
  const formsOf = (schema: Node) => (schema.oneOf ?? schema.anyOf) as Node[] | undefined;
  if (!formsOf(before) && !formsOf(now)) return [];
  const forms = (schema: Node) => formsOf(schema) ?? [schema];
  const { narrow, wide } = orderOf(forms(before), forms(now), spot);
  return narrow.flatMap((form, index) => {
    const place = placesOfComponents.get(form);
    const at = place === undefined ? inside(spot, `form ${index + 1}`) : { ...spot, place };
    const found = wide.map((other) =>
      spot.direction === 'sent' ? judgeSchema(other, form, at) : judgeSchema(form, other, at),
    );
    if (found.some(({ length }) => length === 0)) return [];
    const twin =
      place === undefined ? index : wide.findIndex((other) => placesOfComponents.get(other) === place);
    const change = spot.direction === 'sent' ? 'is a new form' : 'is a form no longer';
    return (wide.length >= narrow.length && found[twin]) || [broken(at, change, promiseOf(spot))];
  });
};
