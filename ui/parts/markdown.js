// Markdown of plans. Nodes are appended one by one, addresses are shown and never followed, and
// pictures are not loaded.

import * as smd from "../vendor/streaming-markdown/smd.min.js";

/** @type {Map<string, {source: string, node: HTMLElement}>} */
const rendered = new Map();

/**
 * Returns the element of a text. The same text under the same key gives the same element.
 * @param {string} key @param {string} source
 */
export function markdown(key, source) {
  const known = rendered.get(key);
  if (known?.source === source) return known.node;
  const node = document.createElement("div");
  node.className = "markdown";
  write(node, source);
  if (rendered.size > 20) rendered.clear();
  rendered.set(key, { source, node });
  return node;
}

/** @param {HTMLElement} root @param {string} source */
function write(root, source) {
  const renderer = smd.default_renderer(root);
  const { add_token, set_attr } = renderer;
  renderer.add_token = (data, type) => add_token(data, type === smd.IMAGE ? smd.LINK : type);
  renderer.set_attr = (data, type, value) => {
    if (type === smd.HREF || type === smd.SRC) data.nodes[data.index].dataset.address = value;
    else if (type === smd.START) set_attr(data, type, value);
  };
  const parser = smd.parser(renderer);
  smd.parser_write(parser, source);
  smd.parser_end(parser);
}
