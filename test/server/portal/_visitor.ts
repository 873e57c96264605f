import got, { type Response } from 'got';

export type Answer = Response<string>;
type Fields = Readonly<Record<string, string | readonly string[]>>;

/** The fields of a new password. */
export const typedTwice = (password: string): Record<string, string> => ({
  password,
  'password-again': password,
});

/** A browser as far as the portal needs one: it keeps cookies, and sends the forms that it was shown. */
export class Visitor {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  /** The page that it shows. */
  shown: string = '';

  constructor(url: string) {
    this.url = url;
  }

  /** Opens a page; it doesn't follow a redirect. */
  async visit(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#ask('GET', path, { headers });
  }

  /** Fills in a form of the page that is shown, by its action, and sends it as a browser does. */
  async submit(action: string, fields: Fields = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(action, { ...hiddenFields(this.shown, action), ...fields }, headers);
  }

  /** Sends fields to an action, whatever page is shown. */
  async send(action: string, fields: Fields, headers: Record<string, string> = {}): Promise<Answer> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      for (const one of typeof value === 'string' ? [value] : value) body.append(name, one);
    return this.#ask('POST', action, {
      body: body.toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.url,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
    });
  }

  /** Fills in the page for signing in. */
  async signIn(email: string, password: string, headers: Record<string, string> = {}): Promise<Answer> {
    await this.visit('/portal/sign-in');
    return this.submit('/portal/sign-in', { email, password }, headers);
  }

  /** Opens the next page of a list by its link. @returns whether there is one. */
  async turnPage(): Promise<boolean> {
    const [, path] = /href="([^"]*)"\s+rel="next"/.exec(this.shown) ?? [];
    if (path !== undefined) await this.visit(path.replaceAll('&amp;', '&'));
    return path !== undefined;
  }

  /** Submits a form and opens the page that it leads to. */
  async submitAndFollow(action: string, fields: Fields = {}): Promise<Answer> {
    const { statusCode, headers } = await this.submit(action, fields);
    if (statusCode !== 303) throw new Error(`${action} was answered with ${statusCode}: ${this.text}`);
    return this.visit(headers.location ?? '');
  }

  /** Opens a page, and gives its words. */
  async read(path: string): Promise<string> {
    await this.visit(path);
    return this.text;
  }

  /** Submits a form, and gives the words of the page that it leads to. */
  async act(action: string, fields: Fields = {}): Promise<string> {
    await this.submitAndFollow(action, fields);
    return this.text;
  }

  /** Submits a form that is refused, and gives the words of the page that says why. */
  async refused(action: string, fields: Fields = {}): Promise<string> {
    const { statusCode } = await this.submit(action, fields);
    if (statusCode !== 422) throw new Error(`${action} was answered with ${statusCode}: ${this.text}`);
    return this.text;
  }

  /** Sends fields with the token of the page that is shown, or of the overview, to an action that it may have no form for.
   * @returns the status. */
  async force(action: string, fields: Fields = {}): Promise<number> {
    const isThere = this.shown.includes('name="form-token"');
    if (!isThere) await this.visit('/portal');
    const [, token = ''] = /name="form-token" value="([^"]*)"/.exec(this.shown) ?? [];
    return (await this.send(action, { 'form-token': token, ...fields })).statusCode;
  }

  /** Opens a link that was mailed or shown, by its code or the whole of it. @returns the status. */
  async openLink(code: string): Promise<number> {
    await this.visit('/portal/invitation');
    return (await this.submit('/portal/invitation', { code })).statusCode;
  }

  /** Opens a link and fills in the page of one that can be used, as its owner does. @returns the status. */
  async useLink(code: string, password: string, fields: Fields = {}): Promise<number> {
    const status = await this.openLink(code);
    if (status !== 200) return status;
    const typed = { name: 'Niamh', ...typedTwice(password), ...fields };
    return (await this.submit('/portal/invitation/accept', typed)).statusCode;
  }

  /** A copy with the same cookies and page: somebody who has stolen them, or another tab. */
  copy(url = this.url): Visitor {
    const copy = new Visitor(url);
    copy.shown = this.shown;
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  /** The header that its cookies are sent in. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** The words of the page that is shown. */
  get text(): string {
    return textOf(this.shown);
  }

  async #ask(
    method: 'GET' | 'POST',
    path: string,
    options: { body?: string; headers: Record<string, string> },
  ): Promise<Answer> {
    const { cookie } = this;
    const answer = await got(new URL(path, this.url), {
      method,
      ...options,
      headers: { ...options.headers, ...(cookie !== '' && { cookie }) },
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    this.shown = answer.body;
    return answer;
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const isRemoved = attributes.some((attribute) => /^Expires=Thu, 01 Jan 1970/.test(attribute));
    if (isRemoved) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1));
  }
}

export function hiddenFields(page: string, action: string): Record<string, string> {
  const form = [...page.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].find(
    ([, leadsTo]) => leadsTo === action,
  );
  if (!form) throw new Error(`The page has no form for ${action}: ${textOf(page)}`);
  const hidden = (form[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, value]));
}

/** The words of a page, without its tags. */
export function textOf(page: string): string {
  return page
    .replace(/<title>[\s\S]*?<\/title>/g, '')
    .replaceAll('<wbr />', '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}
