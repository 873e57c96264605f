import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { memoized } from './computed.ts';
import { contractDocument } from './document.ts';
import { closedSchema } from './schemas.ts';

/** Returns an Ajv instance for the contract's schemas: JSON Schema 2020-12 with formats. */
export function createAjv(options: ConstructorParameters<typeof Ajv2020>[0] = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // Tests check the schemas strictly. Doing so here, or optimising the code, would each add a tenth to startup time.
    validateSchema: false,
    code: { optimize: false },
    ...options,
  });
  // Under nodenext the package's default export is its CommonJS namespace.
  addFormats.default(ajv);
  return ajv;
}

let recordAjv: Ajv2020 | undefined;
const validatorOf = memoized((schemaName: string): ValidateFunction => {
  const schema = contractDocument().components.schemas[schemaName];
  if (!schema) throw new Error(`The contract has no schema ${schemaName}.`);
  recordAjv ??= createAjv({ allErrors: false });
  return recordAjv.compile(closedSchema(schema));
});

/** Returns the problem with a record under a schema of the contract, which is closed first; undefined if it is valid. */
export function recordProblem(schemaName: string, record: unknown): string | undefined {
  const validate = validatorOf(schemaName);
  if (validate(record)) return undefined;
  const [error] = validate.errors ?? [];
  return error ? describeError(error) : 'is not valid';
}

function describeError({ instancePath, message, params }: ErrorObject): string {
  const unknown = (params as { unevaluatedProperty?: string }).unevaluatedProperty;
  return `${instancePath || '/'} ${message ?? 'is not valid'}${unknown === undefined ? '' : `: ${unknown}`}`;
}
