/**
 * Closes the objects that the feed takes, wherever its contract or the API's describes them: a member that isn't
 * described is refused. By hand it would be a line in each of a hundred objects, some of which stay open in the API.
 */
function closeRequests({ components: { schemas } }) {
  const closed = new Set();
  const close = (value) => {
    if (typeof value !== 'object' || value === null || closed.has(value)) return;
    closed.add(value);
    if (typeof value.$ref === 'string') close(schemas[value.$ref.split('/').at(-1)]);
    if (value.type !== undefined && value.properties) value.additionalProperties ??= false;
    for (const inner of Object.values(value)) close(inner);
  };
  close(schemas.Change);
  close(schemas.PortalLinkRequest);
}

export default () => ({
  id: 'feed',
  decorators: { oas3: { 'closed-requests': () => ({ Root: { leave: closeRequests } }) } },
});
