import { contentDisposition } from '../../invoice-pdf/file-name.ts';
import type { Handler } from '../handler.ts';
import { noRecord } from '../records.ts';

export const getInvoicePdf: Handler<'getInvoicePdf'> = async ({ caller, path, leave }, { documents }) => {
  const found = await documents.find(caller.company, path.invoiceId);
  if (!found) throw noRecord();
  // Waiting for a PDF must not block other requests.
  leave();
  const document = await documents.prepare(found);
  if (!document) throw noRecord();
  const { name, sha256: digest, byteCount, read } = document;
  const headers = { mediaType: 'application/pdf', contentDisposition: contentDisposition(name) } as const;
  return { status: 200, file: { ...headers, digest, byteCount, read } };
};
