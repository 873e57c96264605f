/**
 * Finds where a published text names the project in place of the configured service. The program and the package are
 * called `fieldledger` everywhere.
 */
export function otherNames(text: string): string[] {
  const other =
    /.{0,20}fieldledger(?!(?: webhook (?:sample|play)| (?:pull|export|mcp|feed-token) | apply(?:`|<)|-X|\/client|`|<\/code>)).{0,20}/gi;
  return text.match(other) ?? [];
}
