/**
 * Script that adds to the reference page what Redoc lacks. Search results begin with links to chapters of the guide.
 * Scrollable areas can be reached by keyboard (WCAG 2.2, 2.1.1). Code in the guide can be copied, and switched between
 * languages if shown in several. The menu is a landmark. The script only adds elements beside Redoc's own.
 */
export const pageScript = `
const chapters = () => {
  const { info } = JSON.parse(document.getElementById('contract').textContent);
  const links = [...document.querySelectorAll('a[href*="#/section/"]')].filter((link) => !link.closest('main'));
  return info.description.split(/^# /m).slice(1).flatMap((text) => {
    const title = text.split('\\n')[0];
    const link = links.find((candidate) => candidate.textContent.trim() === title);
    return link ? [{ title, text: wordsOf(text), link }] : [];
  });
};
// Lower-case words, each behind a blank, so that "ip" isn't found in "description".
const wordsOf = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, ' ').replace(/^(?! )/, ' ');
const found = document.createElement('nav');
found.className = 'found-chapters';
found.setAttribute('aria-label', 'Chapters');
const showChapters = () => {
  const input = document.querySelector('header [placeholder="Search docs..."]');
  if (!input) return;
  if (input.value !== found.dataset.sought) {
    found.dataset.sought = input.value;
    // Without the ending of a plural, because the text may have the singular.
    const words = [...wordsOf(input.value).matchAll(/ [^ ]+/g)].map(([word]) => word.replace(/(.{4})e?s$/, '$1'));
    const rank = ({ title }) => (words.every((word) => wordsOf(title).includes(word)) ? 0 : 1);
    const matching = words.length === 0 ? [] : chapters().filter(({ text }) => words.every((word) => text.includes(word)));
    found.replaceChildren(...matching.sort((one, other) => rank(one) - rank(other)).slice(0, 5).map(({ title, link }) => {
      const entry = document.createElement('a');
      entry.href = link.getAttribute('href');
      entry.textContent = title;
      entry.addEventListener('click', (event) => {
        event.preventDefault();
        document.querySelector('[data-translation-key="search.cancel"]').click();
        link.click();
      });
      return entry;
    }));
  }
  // Redoc may have rendered the dialog again.
  if (!found.isConnected) input.closest('header').after(found);
};
addEventListener('input', showChapters);
const buttonOf = (text, onClick) => {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: text });
  button.addEventListener('click', () => onClick(button));
  return button;
};
const offerCopy = (code) => {
  const copy = (button) => {
    getSelection().selectAllChildren(code);
    button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
  };
  code.before(Object.assign(buttonOf('Copy', copy), { className: 'copy-code' }));
};
// A paragraph before a code block that only names its language, such as "Python:".
const labelOf = (code) => {
  const label = code?.parentElement.previousElementSibling;
  return /^[^.]{1,30}:$/.test(label?.textContent.trim() ?? '') ? label : undefined;
};
const offerLanguages = (codes) => {
  const labels = codes.map(labelOf);
  const choose = (chosen) => codes.forEach((code, index) => {
    labels[index].hidden = true;
    code.parentElement.hidden = buttons[index] !== chosen;
    buttons[index].setAttribute('aria-pressed', String(buttons[index] === chosen));
  });
  const buttons = labels.map((label) => buttonOf(label.textContent.trim().slice(0, -1), choose));
  const group = Object.assign(document.createElement('div'), { className: 'code-languages', role: 'group', ariaLabel: 'Language' });
  group.append(...buttons);
  labels[0].before(group);
  choose(buttons[0]);
};
const complete = () => {
  showChapters();
  Object.assign(document.querySelector('.menu-content') ?? {}, { role: 'navigation', ariaLabel: 'Contents' });
  const added = [...document.querySelectorAll('main pre[data-language]:not([tabindex])')];
  for (const part of document.querySelectorAll('main :is(pre, table.md):not([tabindex])')) part.tabIndex = 0;
  added.forEach(offerCopy);
  const runs = [];
  for (const code of added.filter(labelOf)) {
    const run = runs.at(-1);
    if (run && labelOf(code).previousElementSibling === run.at(-1).parentElement) run.push(code);
    else runs.push([code]);
  }
  for (const run of runs) if (run.length > 1) offerLanguages(run);
};
new MutationObserver(complete).observe(document.documentElement, { childList: true, subtree: true });
`;
