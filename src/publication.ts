import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Router } from 'express';
import { stringify } from 'yaml';

import { bundledContract, referenceFile } from './contract/document.ts';
import { AppError } from './errors.ts';

/** The reference is one file with everything in it: this policy lets it render and ask for nothing. */
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The contract as integrators read it: the description in both notations, and the reference. */
export function createPublication({
  baseUrl,
  serviceName,
}: {
  baseUrl: () => string;
  serviceName: string;
}): Router {
  const router = Router();
  let contract: { json: string; yaml: string } | undefined;
  // Written at the first request: starting should not wait for it.
  const published = () => (contract ??= publish(baseUrl(), serviceName));
  router.get('/openapi.json', (_req, res) => {
    res.type('application/json').set('Cache-Control', 'no-cache').send(published().json);
  });
  router.get('/openapi.yaml', (_req, res) => {
    res.type('application/yaml').set('Cache-Control', 'no-cache').send(published().yaml);
  });
  router.get('/reference', (_req, res, next) => {
    const path = fileURLToPath(referenceFile);
    if (!existsSync(path))
      throw new AppError('not_found', 'The reference has not been built; "make docs" builds it.');
    res.set({ 'Content-Security-Policy': REFERENCE_POLICY, 'X-Content-Type-Options': 'nosniff' });
    res.sendFile(path, { acceptRanges: false }, (error?: Error & { status?: number }) => {
      const isRefused = error?.status === 412;
      if (isRefused)
        next(new AppError('invalid_request', 'The reference is not in the state that you ask for.'));
      else if (error) next(error);
    });
  });
  router.get('/', (_req, res) => {
    res.redirect(302, '/reference');
  });
  return router;
}

/** The bundled contract, naming this server as the one to call. */
function publish(baseUrl: string, serviceName: string): { json: string; yaml: string } {
  const contract = {
    ...bundledContract(),
    servers: [{ url: baseUrl, description: `This ${serviceName} server` }],
  };
  // Aliases would save bytes and confuse half of the tools that read YAML.
  return { json: JSON.stringify(contract), yaml: stringify(contract, { aliasDuplicateObjects: false }) };
}
