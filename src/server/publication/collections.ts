import { STATUS_CODES } from 'node:http';

import {
  bodyOf,
  type Bundle,
  type Example,
  examplesOf,
  type Operation,
  operationsOf,
  type Parameter,
  readBundle,
  resolve,
} from './bundle.ts';

/*
 * The operations as collections for Postman and Bruno. Their own importers of OpenAPI switch every optional parameter
 * on, so that no list answers, and put the same request beside every example. Here a list is asked for as it is, and each
 * example stands beside the request that it answers.
 */

interface CollectedRequest {
  operation: Operation & { path: string };
  parameters: Parameter[];
  examples: (Example & { 'x-request': string })[];
}

interface Folder {
  name: string;
  description: string;
  requests: CollectedRequest[];
}

const KEY_VARIABLE = 'apiKey';
const TOKEN = `{{${KEY_VARIABLE}}}`;
const BASE = '{{baseUrl}}';

function foldersOf(bundle: Bundle): Folder[] {
  const operations = operationsOf(bundle);
  return bundle.tags
    .map(({ name, description }) => ({
      name,
      description,
      requests: operations
        .filter(({ tags: [tag] }) => tag === name)
        .map((operation) => ({
          operation,
          parameters: operation.parameters.map((parameter) => resolve(bundle, parameter)),
          examples: examplesOf(bundle, bodyOf(operation)).filter(isOfJson),
        })),
    }))
    .filter(({ requests }) => requests.length > 0);
}

function isOfJson(example: Example): example is Example & { 'x-request': string } {
  return example['x-request'] !== undefined && typeof example.value === 'object';
}

const exampleText = ({ example }: Parameter) => String(example ?? '');
const bodyText = ({ value }: Example) => JSON.stringify(value, undefined, 2);
const queryOf = (parameters: readonly Parameter[]) =>
  parameters.filter((parameter) => parameter.in === 'query');
const idsOf = (parameters: readonly Parameter[]) => parameters.filter((parameter) => parameter.in === 'path');
/** Both programs mark a variable of the path with a colon. */
const pathOf = ({ operation }: CollectedRequest) => operation.path.replaceAll(/\{(\w+)\}/g, ':$1');

const JSON_TYPE = 'application/json';

/** The collection for Postman, in its format 2.1. */
export function postmanCollection(): object {
  const bundle = readBundle();
  const { info, servers } = bundle;
  return {
    info: {
      name: info.title,
      description: info.description,
      version: info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: TOKEN, type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: servers[0].url, type: 'string' },
      { key: KEY_VARIABLE, value: '', type: 'string', description: 'The API key: a secret.' },
    ],
    item: foldersOf(bundle).map(({ name, description, requests }) => ({
      name,
      description,
      item: requests.map(postmanItem),
    })),
  };
}

function postmanItem(request: CollectedRequest): unknown {
  const { operation, parameters, examples } = request;
  const path = pathOf(request);
  const valueOf = (parameter: Parameter) => ({
    key: parameter.name,
    value: exampleText(parameter),
    description: parameter.description,
  });
  return {
    name: operation.summary,
    request: {
      method: 'GET',
      description: operation.description,
      header: [],
      url: {
        raw: `${BASE}${path}`,
        host: [BASE],
        path: path.split('/').slice(1),
        query: queryOf(parameters).map((parameter) => ({ ...valueOf(parameter), disabled: true })),
        variable: idsOf(parameters).map(valueOf),
      },
    },
    response: examples.map((example) => ({
      name: example.summary,
      originalRequest: { method: 'GET', header: [], url: `${BASE}${example['x-request']}` },
      status: STATUS_CODES[200],
      code: 200,
      _postman_previewlanguage: 'json',
      header: [{ key: 'Content-Type', value: JSON_TYPE }],
      body: bodyText(example),
    })),
  };
}

/** The collection for Bruno, as the one file that it imports; it gives the parts their ids itself. */
export function brunoCollection(): object {
  const bundle = readBundle();
  const { info, servers } = bundle;
  const variable = { type: 'text', enabled: true, secret: false };
  return {
    name: info.title,
    version: '1',
    items: foldersOf(bundle).map(({ name, description, requests }, index) => ({
      type: 'folder',
      name,
      seq: index + 1,
      root: { request: { auth: { mode: 'inherit' } }, docs: description },
      items: requests.map((request, place) => brunoItem(request, place + 1)),
    })),
    environments: [
      {
        name: info.title,
        variables: [
          { ...variable, name: 'baseUrl', value: servers[0].url },
          { ...variable, name: KEY_VARIABLE, value: '', secret: true },
        ],
      },
    ],
    root: { request: { auth: { mode: 'bearer', bearer: { token: TOKEN } } }, docs: info.description },
  };
}

function brunoItem(request: CollectedRequest, seq: number): unknown {
  const { operation, parameters, examples } = request;
  const asked = { method: 'GET', headers: [], body: { mode: 'none' } };
  const paramOf = (type: 'path' | 'query', enabled: boolean) => (parameter: Parameter) => ({
    name: parameter.name,
    value: exampleText(parameter),
    description: parameter.description,
    type,
    enabled,
  });
  return {
    type: 'http-request',
    name: operation.summary,
    seq,
    request: {
      ...asked,
      url: `${BASE}${pathOf(request)}`,
      params: [
        ...queryOf(parameters).map(paramOf('query', false)),
        ...idsOf(parameters).map(paramOf('path', true)),
      ],
      auth: { mode: 'inherit' },
      docs: operation.description,
    },
    examples: examples.map((example) => ({
      type: 'http-request',
      name: example.summary,
      request: { ...asked, url: `${BASE}${example['x-request']}`, params: brunoParams(example) },
      response: {
        status: 200,
        statusText: STATUS_CODES[200],
        headers: [{ name: 'Content-Type', value: JSON_TYPE, enabled: true }],
        body: { type: 'json', content: bodyText(example) },
      },
    })),
  };
}

/** Bruno shows the query of an address in a table of its own, too. */
function brunoParams({ 'x-request': request = '' }: Example): unknown[] {
  const [, query = ''] = request.split('?');
  return [...new URLSearchParams(query)].map(([name, value]) => ({
    name,
    value,
    type: 'query',
    enabled: true,
  }));
}
