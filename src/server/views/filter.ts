import { isDay } from '../../contract/company-time.ts';
import { textField } from './form.ts';
import { type Html, html } from './html.ts';

/** Renders a form of filters, which become part of the page's URL. */
export function filterForm(action: string, content: Html): Html {
  return html`<form method="get" action="${action}" class="filters" role="search">
    ${content}<button class="quiet">Show</button>
  </form>`;
}

/** Renders the field for a day of a filter, which is in the page's URL. */
export function dayField(query: URLSearchParams, name: string, label: string): Html {
  const [value, problem] = [query.get(name), dayProblem(query, name)];
  return textField({ name, label, problem, value, type: 'date', isRequired: false });
}

/** Says why a filter's day can't be used; undefined if it can, or if there is none. The day `to` isn't before the day `from`. */
export function dayProblem(query: URLSearchParams, name: string): string | undefined {
  const [day = '', from = ''] = [name, 'from'].map((field) => query.get(field) ?? '');
  if (day !== '' && !isDay(day)) return `“${day}” isn’t a date. Enter one such as 2026-11-20.`;
  return name === 'to' && day !== '' && isDay(from) && day < from ? END_BEFORE_START : undefined;
}

export const END_BEFORE_START = 'The end must be after the start.';

/** Reads choices and days from a page's URL. One that can't be used is left out, and reported as a problem of its field. */
export function filterReader(query: URLSearchParams) {
  const problems: Record<string, string> = {};
  const choiceOf = <Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined => {
    const given = query.get(name) || undefined;
    const choice = choices.find((one) => one === given);
    if (choice !== given) problems[name] = `“${given}” isn’t one of these.`;
    return choice;
  };
  const dayOf = (name: string): string | undefined => {
    const problem = dayProblem(query, name);
    if (problem !== undefined) problems[name] = problem;
    return problem === undefined ? query.get(name) || undefined : undefined;
  };
  return { problems, choiceOf, dayOf };
}
