import { isDay } from '../../contract/company-time.ts';
import { textField } from './form.ts';
import { type Html, html } from './html.ts';

/** Renders a form of filters, which become part of the page's URL. */
export function filterForm(action: string, content: Html): Html {
  return html`<form method="get" action="${action}" class="filters" role="search">
    ${content}<button class="quiet">Show</button>
  </form>`;
}

/** Renders the field for a day of a filter, which is in the page's URL. Browsers take no other value for a day. */
export function dayField(query: URLSearchParams, name: string, label: string): Html {
  const value = isDay(query.get(name) ?? '') ? query.get(name) : undefined;
  return textField({ name, label, problem: dayProblem(query, name), value, type: 'date', isRequired: false });
}

/** Says why a filter's day can't be used; undefined if it can, or if there is none. The day `to` isn't before the day `from`. */
export function dayProblem(query: URLSearchParams, name: string): string | undefined {
  const [day = '', from = ''] = [name, 'from'].map((field) => query.get(field) ?? '');
  if (day !== '' && !isDay(day)) return `“${day}” isn’t a date. Enter one such as 2026-11-20.`;
  return name === 'to' && day !== '' && isDay(from) && day < from ? END_BEFORE_START : undefined;
}

export const END_BEFORE_START = 'The end must be after the start.';

/** Reads choices from a page's URL. One that there isn't is left out, and reported as a problem of its field. */
export function filterChoices(query: URLSearchParams) {
  const problems: Record<string, string> = {};
  const choiceOf = <Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined => {
    const given = query.get(name) || undefined;
    const choice = choices.find((one) => one === given);
    if (choice !== given) problems[name] = `“${given}” isn’t one of these.`;
    return choice;
  };
  return { problems, choiceOf };
}
