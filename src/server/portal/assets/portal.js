// Optional conveniences: the pages also work without scripts.

/** Makes each copy button visible, and lets it copy the text of an element. */
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  const label = button.firstChild;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      label.data = 'Copied';
    } catch {
      // Without the right to copy, the text is selected, ready to be copied by hand.
      getSelection().selectAllChildren(source);
      label.data = 'Selected';
    }
  });
}

/** Submits each form only once, however often its button is pressed. */
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'yes';
  });
}

/** Reads a link's code after the `#`, which only the browser sees, removes it from the address bar and submits it. */
const code = document.getElementById('code');
if (code && location.hash.length > 1) {
  code.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  code.form.requestSubmit();
}

/** Reloads a page restored from the back/forward cache, because its session may have ended. */
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});
