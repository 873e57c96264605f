import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { escaped, plainPage, withCode } from './plain-page.ts';

/** Names of the Arazzo 1.0 workflow files, which `redocly respect` and other tools can run. */
export const workflowFiles = ['first-hour', 'first-sync', 'delta-sync', 'webhook-received'].map(
  (name) => `${name}.arazzo.yaml`,
);

export function workflowText(file: string): string {
  return readFileSync(new URL(`workflows/${file}`, import.meta.url), 'utf8');
}

/** Returns the HTML page that lists the workflows, each with the commands at the start of its file. */
export function workflowsPage(): string {
  const items = workflowFiles.map((file) => {
    const text = workflowText(file);
    const { info } = parse(text) as { info: { title: string; summary: string } };
    const commands = [...text.matchAll(/^# {5}(.+)$/gm)].map(([, command = '']) => command).join('\n');
    return `
<article>
<h2><a href="/workflows/${file}">${escaped(info.title)}</a></h2>
<p>${withCode(info.summary)}</p>
<pre tabindex="0"><code>${escaped(commands)}</code></pre>
</article>`;
  });
  return plainPage({
    title: 'Workflows of the Fieldledger API',
    content: `<p>Requests in their order, in Arazzo 1.0, for a tool to run. <a href="/reference">Reference</a></p>\n${items.join('\n')}`,
  });
}
