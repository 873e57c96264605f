/**
 * What Redoc leaves to the page, as a script in it: chapters of the guide stand above everything else that a search
 * finds and lead to the chapter, and what is scrolled can be reached by the keyboard (WCAG 2.2, 2.1.1). It only adds
 * elements beside Redoc's own.
 */
export const pageScript = `
const chapters = () => {
  const { info } = JSON.parse(document.getElementById('contract').textContent);
  const links = [...document.querySelectorAll('a[href*="#/section/"]')].filter((link) => !link.closest('main'));
  return info.description.split(/^# /m).slice(1).flatMap((text) => {
    const title = text.split('\\n')[0];
    const link = links.find((candidate) => candidate.textContent.trim() === title);
    return link ? [{ title, text: text.toLowerCase(), link }] : [];
  });
};
const found = document.createElement('nav');
found.className = 'found-chapters';
found.setAttribute('aria-label', 'Chapters');
addEventListener('input', ({ target }) => {
  const header = target.placeholder === 'Search docs...' && target.closest('header');
  if (!header) return;
  const words = target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const rank = ({ title }) => (words.every((word) => title.toLowerCase().includes(word)) ? 0 : 1);
  const matching = words.length === 0 ? [] : chapters().filter(({ text }) => words.every((word) => text.includes(word)));
  const shown = matching.sort((one, other) => rank(one) - rank(other)).slice(0, 5).map(({ title, link }) => {
    const entry = document.createElement('a');
    entry.href = link.getAttribute('href');
    entry.textContent = title;
    entry.addEventListener('click', (event) => {
      event.preventDefault();
      document.querySelector('[data-translation-key="search.cancel"]').click();
      link.click();
    });
    return entry;
  });
  found.replaceChildren(...shown);
  header.after(found);
});
const complete = () => {
  for (const part of document.querySelectorAll('main :is(pre, table.md):not([tabindex])')) part.tabIndex = 0;
};
new MutationObserver(complete).observe(document.documentElement, { childList: true, subtree: true });
`;
