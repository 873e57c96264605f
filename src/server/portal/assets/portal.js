// Conveniences. The pages work without them.

/** A button copies the text of an element. */
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

/** A form is sent once, however often its button is pressed. */
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'yes';
  });
}

/** The code of a link stands behind a `#`, which only the browser sees. It is removed from the address at once, and sent. */
const code = document.getElementById('code');
if (code && location.hash.length > 1) {
  code.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  code.form.requestSubmit();
}

/** A page that comes back from the browser's memory may belong to a session that has ended. */
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});
