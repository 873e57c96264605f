import type { FindDocument } from '../../invoice-pdf/documents.ts';
import { contentDisposition } from '../../invoice-pdf/file-name.ts';
import type { Handler } from '../handler.ts';
import { noRecord } from '../records.ts';

/** GET /api/v1/invoices/{invoiceId}/pdf */
export const getInvoicePdf =
  (findDocument: FindDocument): Handler<'getInvoicePdf'> =>
  async ({ caller, path }) => {
    const prepare = await findDocument(caller.company, path.invoiceId);
    if (!prepare) throw noRecord();
    const file = async () => {
      const document = await prepare();
      if (!document) throw noRecord();
      const { name, sha256: digest, byteCount, read } = document;
      const headers = { mediaType: 'application/pdf', contentDisposition: contentDisposition(name) } as const;
      return { ...headers, digest, byteCount, read };
    };
    return { status: 200, file };
  };
